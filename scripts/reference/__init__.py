"""Writes the reference of the site (Markdown) and of section 3 of the manual. The sources are include/backhaul.h, the
docstrings of the Python package, the symbols of the Swift package, and the command line's description of itself."""
