"""What the bindings have of include/backhaul.h: `header` reads it, one module writes each output, `outputs` lists them.

The declarations come from the toolchain's clang, because only a compiler sees through the macros around declarations
and knows the values; their comments come from the text behind each declaration that clang names.
"""
