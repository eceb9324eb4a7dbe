"""Fixtures for the tests of retries: the fixtures of the tests in Tests/Integration/hosts, and private networks."""

import pytest

from testbed.network import Network, Unavailable


@pytest.fixture
def network():
    """Two network namespaces with a cable between them. Hosts run in the first namespace, and servers in the second."""
    try:
        made = Network()
    except Unavailable as reason:
        pytest.skip(f"no network can be made: {reason}")
    yield made
    made.end()
