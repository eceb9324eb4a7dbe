"""What the tests of retries stand on: the host tests' world, and networks of their own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hosts.conftest import (  # noqa: E402, F401
    certificates,
    downloads,
    host,
    hosting,
    library,
    misbehaving,
    place,
    pytest_configure,
    pytest_generate_tests,
    store,
)
from retries.network import Network, Unavailable  # noqa: E402


@pytest.fixture
def network():
    """Two namespaces with a cable between them: hosts are started here, servers there."""
    try:
        made = Network()
    except Unavailable as reason:
        pytest.skip(f"no network can be made: {reason}")
    yield made
    made.end()
