"""The texts of constants are words, not numbers."""

import pytest

from backhaul import HTTPVersion, NetworkKind, RetryErrors, Status, TaskState


@pytest.mark.parametrize(("value", "text"), [
    (TaskState.RUNNING, "running"),
    (TaskState(99), "unknown_99"),
    (Status.IN_USE, "BH_IN_USE"),
    (HTTPVersion.HTTP_1_1, "http1.1"),
    (NetworkKind.WIFI, "wifi"),
    (NetworkKind.WIFI | NetworkKind.ETHERNET, "ethernet|wifi"),
    (NetworkKind.WIFI | NetworkKind(64), "wifi|unknown_64"),
    (RetryErrors(0), "none"),
])
def test_a_constant_is_printed_as_its_word(value, text):
    assert (str(value), f"{value}", f"{value:>20}") == (text, text, f"{text:>20}")


def test_a_constant_can_be_printed_as_a_number():
    assert (f"{TaskState.RUNNING:d}", f"{NetworkKind.WIFI:04b}") == ("2", "0010")
