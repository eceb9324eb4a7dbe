"""If BACKHAUL_LIBRARY is not set, makes the tests use the library that was built in this repository."""

import os
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(_ROOT / "bindings" / "python" / "src"), str(_ROOT / "Tests" / "Support")]
os.environ.setdefault("BACKHAUL_LIBRARY", str(_ROOT / "build" / "lib" / "libbackhaul.so.1"))
