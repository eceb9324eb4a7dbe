"""Fixtures for the tests of retries: those of the host tests, and private networks."""

import pytest

from testbed.network import Network, Unavailable


@pytest.fixture
def network():
    """Two network namespaces with a cable between them: hosts run in one, servers in the other."""
    try:
        made = Network()
    except Unavailable as reason:
        pytest.skip(f"no network can be made: {reason}")
    yield made
    made.end()
