"""multiprocessing's names."""
