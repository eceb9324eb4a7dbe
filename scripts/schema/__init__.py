"""Generates the parts of the bindings that come from include/backhaul.h.

`header` reads the header. Each output has a module that writes it, and `outputs` lists the outputs. The declarations
come from the toolchain's clang, because only a compiler expands the macros around declarations and knows the values.
The comments come from the text near each declaration that clang reports.
"""
