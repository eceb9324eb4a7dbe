"""The common forms of the generated Swift files."""

from __future__ import annotations

WIDTH = 120
NOTE = "// Generated from include/backhaul.h by scripts/generate-bindings; change the header, then run it.\n"
