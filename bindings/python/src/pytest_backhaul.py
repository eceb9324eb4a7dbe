"""The plugin of pytest, which pytest finds by the package's entry point. It is a module of its own, because pytest
imports its plugins at each start, and not all tests use Backhaul."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from backhaul.testing import Testbed


@pytest.fixture
def backhaul_testbed() -> Iterator[Testbed]:
    """An empty store in a temporary directory, with a daemon, an HTTP server and a clock that the test moves."""
    from backhaul.testing import Testbed

    with Testbed() as testbed:
        yield testbed
        if testbed.failures:
            pytest.fail("\n".join(testbed.failures), pytrace=False)
