"""The contract's own tests stand on those of launches: the daemon and an embedded engine, and programs that come."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from launch.conftest import *  # noqa: E402, F401, F403
