"""What the tests of downloads stand on: the host tests' world."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hosts.conftest import (  # noqa: E402, F401
    certificates,
    downloads,
    host,
    hosting,
    library,
    misbehaving,
    nginx,
    place,
    pytest_configure,
    pytest_generate_tests,
    served,
    store,
)
