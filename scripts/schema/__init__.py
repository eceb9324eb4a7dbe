"""Generates the parts of the bindings that come from include/backhaul.h.

`header` reads the header, one module writes each output, and `outputs` lists them. The declarations come from the
toolchain's clang, because only a compiler expands the macros around declarations and knows the values. The comments
come from the text near each declaration that clang reports.
"""
