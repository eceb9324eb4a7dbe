"""The parts that all generated Swift files have in common."""

from __future__ import annotations

WIDTH = 120
NOTE = "// Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.\n"
