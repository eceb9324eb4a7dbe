"""Messages of the library have the names of the Python package, and no names of C. The tests give wrong values to every
field of the values that a program writes."""

from __future__ import annotations

import dataclasses
import re
from enum import EnumMeta

import pytest

import backhaul
from backhaul import Activity, Application, BackhaulError, LaunchCommand, Part, Request, SessionConfiguration
from backhaul._messages import in_python

WRONG = ["", "x", "\x01", "x" * 70_000, "a/b", -1, 0, 7, 1 << 31, (1 << 32) - 1, (1 << 64) - 1, b"", b"\xff" * 300,
         ["\x01"], [("Host", "a")], [("", "")], {"": ""}, 1.5, True]
URL = "http://127.0.0.1:9/never"
NAMES = {field.name for kind in vars(backhaul).values() if dataclasses.is_dataclass(kind)
         for field in dataclasses.fields(kind)}
# A program may give the name of a member as a text, such as "same_origin".
WORDS = {member.lower() for kind in vars(backhaul).values() if isinstance(kind, EnumMeta)
         for member in kind.__members__}
NAME_OF_C = re.compile(r"\bBH_\w+|\bbh_\w+|\bNULL\b")
FIELD = re.compile(r"(?<![\w./-])[a-z]+(?:_[a-z]+)+(?![\w/])")


@pytest.mark.parametrize(("message", "expected"), [
    ("earliest_start_ms is -5, not a time", "earliest_start is -5, not a time"),
    ("remove it, or give if_exists BH_IF_EXISTS_REPLACE", "remove it, or give if_exists IfExists.REPLACE"),
    ("cookies is 9; give one of BH_COOKIES_…", "cookies is 9; give a member of Cookies"),
    ("give BH_HTTP_1_1", "give HTTPVersion.HTTP_1_1"), ("or BH_TIME_UNCHANGED", "or TIME_UNCHANGED"),
    ("url is NULL, but it is required", "url is None, but it is required"),
    ("/home/first_ms cannot be read", "/home/first_ms cannot be read"), ("slow_after_ms is 0", "slow_after_ms is 0"),
])
def test_a_message_has_the_names_of_python(message, expected):
    assert in_python(message) == expected


def values(kind):
    """Yields the arguments for each field of the type and each wrong value, with the name of the field."""
    right = {Request: {"url": URL}, SessionConfiguration: {"identifier": "other"},
             LaunchCommand: {"program": "/bin/true"}, Activity: {"identifier": "a", "interval_ms": 3_600_000},
             Part: {"name": "part", "value": "v"}}.get(kind, {})
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        for wrong in WRONG:
            yield field.name, {**right, field.name: wrong}


def parts_of_the_configuration():
    """Yields a session with a wrong value in each field of each part of its configuration."""
    for field in dataclasses.fields(SessionConfiguration):
        kind = next((found for found in vars(backhaul).values() if dataclasses.is_dataclass(found)
                     and found.__name__ in str(field.type).split(" | ") and found is not SessionConfiguration), None)
        for name, given in values(kind) if kind else ():
            yield f"{field.name}.{name}", {"identifier": "other", field.name: kind(**given)}


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    store = tmp_path_factory.mktemp("messages") / "store"
    with Application("org.example.messages", store, hosting=backhaul.Hosting.EMBEDDED) as one:
        yield one


@pytest.fixture(scope="module")
def session(application):
    with application.session("s") as one:
        yield one


def messages(call, cases):
    """Maps each case to the message with which the call fails. Wrong types may raise other exceptions."""
    found = {}
    for name, given in cases:
        try:
            call(given)
        except BackhaulError as error:
            found[f"{name} {str(given)[:80]}"] = str(error)
        except (TypeError, ValueError, AttributeError, OverflowError):
            pass
    assert found
    return found


@pytest.mark.parametrize(
    "what", ["request", "part", "configuration", "part of the configuration", "activity", "launch"])
def test_no_message_about_a_wrong_value_has_a_name_of_c(application, session, tmp_path, what):
    calls = {
        "request": (lambda given: session.enqueue([Request(**given)]), values(Request)),
        "part": (lambda given: session.enqueue([Request(URL, parts=[Part(**given)])]), values(Part)),
        "configuration": (lambda given: application.session(**given).close(),
                          values(SessionConfiguration)),
        "part of the configuration": (lambda given: application.session(**given).close(),
                                      parts_of_the_configuration()),
        "activity": (lambda given: session.set_activity(Activity(**given)), values(Activity)),
        "launch": (lambda given: application.set_launch(LaunchCommand(**given)), values(LaunchCommand)),
    }
    found = messages(*calls[what])
    assert not {case: message for case, message in found.items() if NAME_OF_C.search(message)}
    assert not {case: names for case, message in found.items()
                if (names := set(FIELD.findall(message)) - NAMES - WORDS)}


def test_the_error_of_an_existing_file_has_the_names_of_python(session, tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(backhaul.AlreadyExists, match="give if_exists IfExists.REPLACE"):
        session.download(URL, file)


def test_the_error_of_a_time_out_has_the_names_of_python(session, tmp_path):
    policy = backhaul.Policy(rules=backhaul.TransferRules(resource_timeout_ms=1_000))
    session.download(URL, tmp_path / "late", policy=policy)
    for event in session.events():
        if event.task_id:
            assert "within its resource_timeout_ms" in event.error_message
            break
