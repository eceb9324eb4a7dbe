"""Plays each row of the table over each of its carriers."""

from pathlib import Path

import pytest

from backhaul import Status

from behaviours.table import ROWS

CASES = [pytest.param(row, carrier, id=f"{row.name}-{carrier}") for row in ROWS for carrier in row.carriers]


@pytest.mark.parametrize(("row", "carrier"), CASES)
def test_the_task_of_each_row_ends_as_the_row_states(player, row, carrier):
    event, seen = player.play(row, carrier)
    becomes = row.becomes
    said = f"{event.status.name}: {event.error_message}; asked {[(one.method, one.path) for one in seen]}"
    assert becomes.state in (None, event.state.name.lower()), said
    if becomes.status != "OK":
        assert event.status == Status[becomes.status], said
    if becomes.http_status is not None:
        assert event.http_status == becomes.http_status, said
    _check_file(event, becomes)
    _check_words(event, becomes)
    if becomes.response_body is not None:
        assert event.response_body == becomes.response_body
    if becomes.error_body is not None:
        assert event.error_body == becomes.error_body
    if row.asked is not None:
        _check_requests(seen, row.asked)


def _check_file(event, becomes):
    if event.state.name != "SUCCEEDED":
        assert event.path is None
    if becomes.file is not None:
        assert Path(event.path).read_bytes() == becomes.file


def _check_words(event, becomes):
    words = f"{event.error_message or ''} {event.path or ''}"
    if becomes.says:
        assert becomes.says in words
    if becomes.says_not:
        assert becomes.says_not not in words + (event.error_body or b"").decode("latin-1")
    assert all(character.isprintable() for character in event.error_message or "")


def _check_requests(seen, asked):
    assert len(seen) == len(asked), f"asked {[(one.method, one.path, one.headers) for one in seen]}"
    for one, wanted in zip(seen, asked):
        for name, value in wanted.items():
            found = {"method": one.method, "path": one.path, "body": one.body}.get(name, one.headers.get(name))
            right = value(found) if callable(value) else found == value
            assert right, f"{name} is {found!r}"
