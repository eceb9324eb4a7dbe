"""Runs each row of the table of HTTP behaviours. Each row states what a test server sends, and how the task must end. A
row also lists the transports for which it runs: HTTP/1.1 or HTTP/2, directly or through a proxy."""

from pathlib import Path

import pytest

from backhaul import Status

from behaviours.table import ROWS

CASES = [pytest.param(row, transport, id=f"{row.name}-{transport}") for row in ROWS for transport in row.transports]


@pytest.mark.parametrize(("row", "transport"), CASES)
def test_the_task_of_each_row_ends_as_the_row_states(runner, row, transport):
    event, requests = runner.run(row, transport)
    expected = row.expected
    message = f"{event.status.name}: {event.error_message}; asked {[(one.method, one.path) for one in requests]}"
    assert expected.state in (None, event.state.name.lower()), message
    if expected.status != "OK":
        assert event.status == Status[expected.status], message
    if expected.http_status is not None:
        assert event.http_status == expected.http_status, message
    _check_file(event, expected)
    _check_words(event, expected)
    if expected.response_body is not None:
        assert event.response_body == expected.response_body
    if expected.error_body is not None:
        assert event.error_body == expected.error_body
    if row.asked is not None:
        _check_requests(requests, row.asked)


def _check_file(event, expected):
    if event.state.name != "SUCCEEDED":
        assert event.path is None
    if expected.file is not None:
        assert Path(event.path).read_bytes() == expected.file


def _check_words(event, expected):
    words = f"{event.error_message or ''} {event.path or ''}"
    if expected.message:
        assert expected.message in words
    if expected.message_without:
        assert expected.message_without not in words + (event.error_body or b"").decode("latin-1")
    assert all(character.isprintable() for character in event.error_message or "")


def _check_requests(requests, asked):
    assert len(requests) == len(asked), f"asked {[(one.method, one.path, one.headers) for one in requests]}"
    for one, wanted in zip(requests, asked):
        for name, value in wanted.items():
            found = {"method": one.method, "path": one.path, "body": one.body}.get(name, one.headers.get(name))
            right = value(found) if callable(value) else found == value
            assert right, f"{name} is {found!r}"
