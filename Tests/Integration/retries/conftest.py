"""What the tests of retries stand on: the host tests' world, and networks of their own."""

import pytest

from testbed.network import Network, Unavailable


@pytest.fixture
def network():
    """Two namespaces with a cable between them: hosts are started here, servers there."""
    try:
        made = Network()
    except Unavailable as reason:
        pytest.skip(f"no network can be made: {reason}")
    yield made
    made.end()
