"""Arrays in files: NumPy's formats, tables of text, checkpoints."""
