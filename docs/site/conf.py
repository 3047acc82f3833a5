"""How Sphinx builds the site (make docs). Its source is put together by tools/site.py."""

project = "tutti"
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"description": "NumPy-like lazy arrays that fuse", "page_width": "1080px"}
html_show_copyright = False
exclude_patterns = []
highlight_language = "none"
