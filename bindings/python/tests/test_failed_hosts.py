"""The error of a host that has failed has the end of its traceback. A *host* is a program that uses Backhaul."""

import os

import pytest

from backhaul.testing import HostFailed
from backhaul.testing._hosts import start


def fails():
    # In UTF-8, each of these characters takes three bytes.
    raise ValueError("€" * 200_000 + " at the end")


def test_a_host_that_fails_with_a_long_message_ends_and_the_error_has_the_end_of_the_message():
    host = start(fails, [], dict(os.environ))
    try:
        with pytest.raises(HostFailed) as caught:
            host.wait(60)
        assert str(caught.value).rstrip().endswith("€ at the end")
    finally:
        host.end()
