"""Python objects are converted to structs: no value is truncated, lost or freed too early.

A challenge is a demand for a credential, such as a password. A program responds to it. A selection is a choice of tasks
by their ids or by other features.
"""

import gc
from ctypes import string_at
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backhaul import (
    TLS,
    Challenge,
    ChallengeKind,
    Constraints,
    Hosting,
    IfExists,
    InvalidArgument,
    LaunchCommand,
    NetworkKind,
    Policy,
    Request,
    RetryErrors,
    RetryPolicy,
    Scheme,
    SessionConfiguration,
    TaskState,
    TransferRules,
    _writing,
    _writing_transfers,
)

without_nul = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(
    st.lists(
        st.builds(
            Request,
            url=without_nul,
            destination=st.none() | without_nul.map(Path),
            key=st.none() | without_nul,
            headers=st.lists(st.tuples(without_nul, without_nul), max_size=5),
            user_data=st.binary(max_size=100),
            if_exists=st.sampled_from(["fail", "replace", IfExists.FAIL, 0, 1]),
            priority=st.integers(-(2**31), 2**31 - 1),
            suspended=st.booleans(),
            mode=st.none() | st.integers(1, 2**32 - 1),
        ),
        max_size=20,
    )
)
def test_requests_are_written_to_structs_unchanged(requests):
    array = _writing_transfers.requests(requests)
    gc.collect()
    for raw, request in zip(array, requests):
        assert raw.url == request.url.encode()
        assert raw.destination == (None if request.destination is None else str(request.destination).encode())
        assert raw.idempotency_key == (None if request.key is None else request.key.encode())
        headers = [(raw.headers[i].name.decode(), raw.headers[i].value.decode()) for i in range(raw.header_count)]
        assert headers == list(request.headers)
        data = string_at(raw.user_data, raw.user_data_size) if raw.user_data else b""
        assert data == request.user_data
        assert raw.if_exists == (request.if_exists in ("replace", 1))
        assert (raw.priority, raw.flags, raw.mode) == (request.priority, int(request.suspended), request.mode or 0)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request("http://a\0b/"), "URL contains a NUL"),
        (Request("http://a/", "/tmp/a\0b"), "destination contains a NUL"),
        (Request("http://a/", key="a\0"), "idempotency key contains a NUL"),
        (Request("http://a/", headers={"A\0": "b"}), "header name contains a NUL"),
        (Request("http://a/", headers={"A": "b\0"}), "value of the header A contains a NUL"),
        (Request("http://\ud800/"), "URL is not valid Unicode"),
        (Request("http://a/", "/tmp/\ud800"), "destination has a character that the encoding of the file system lacks"),
        (Request(b"http://a/"), "URL is a bytes instead of a str"),
        (Request("http://a/", 7), "destination is a int instead of a path"),
        (Request("http://a/", priority=2**31), "priority is 2147483648, which is too large"),
        (Request("http://a/", mode=-1), "mode is -1, which is negative"),
        (Request("http://a/", mode=0), "mode is 0, which is too small"),
        (Request("http://a/", if_exists="maybe"), "say 'fail' or 'replace' or 'skip'"),
    ],
)
def test_a_value_that_c_cannot_represent_raises_an_error_with_the_index_of_its_request(request_, words):
    with pytest.raises(InvalidArgument, match=words) as caught:
        _writing_transfers.requests([Request("http://a/"), request_], first=100)
    assert caught.value.index == 101


def test_a_configuration_is_written_to_a_struct_unchanged():
    rules, tls = TransferRules(resource_timeout_ms=2**63), TLS(ca_file=Path("/ca"))
    given = SessionConfiguration("gallery", rules=rules, tls=tls)
    raw = _writing_transfers.configuration(given)
    gc.collect()
    assert (raw.identifier, raw.rules.resource_timeout_ms, raw.tls.ca_file) == (b"gallery", 2**63, b"/ca")


def test_each_part_of_a_configuration_must_have_the_right_type():
    with pytest.raises(InvalidArgument, match="the tls is a dict instead of a TLS"):
        _writing_transfers.configuration(SessionConfiguration("s", tls={"ca_file": "/ca"}))


def test_the_struct_of_a_selection_of_tasks_keeps_its_array_of_task_ids_in_memory():
    chosen = _writing.selection(range(1, 1001), [TaskState.WAITING, TaskState.RUNNING])
    gc.collect()
    raw = chosen.contents
    assert [raw.ids[i] for i in range(raw.id_count)] == list(range(1, 1001))
    assert raw.states == 0b110


def test_a_member_of_an_enumeration_is_written_as_its_number():
    assert _writing.word("policy", IfExists.REPLACE, IfExists) == 1


#: Wrong values for an enumeration, with words of the message. A bool is an int in Python.
WRONG_CONSTANTS = [
    (Request("http://a/", if_exists=True), "existing files is True; give a member of IfExists"),
    (Request("http://a/", if_exists=None), "existing files is None; give a member of IfExists"),
    (Request("http://a/", if_exists=TaskState.RUNNING), "give a member of IfExists"),
    (Request("http://a/", suspended="no"), "suspended is 'no'; give True or False"),
    (Request("http://a/", priority=True), "priority is True; give an integer"),
    (Request("http://a/", earliest_start=True), "earliest start is True"),
    (Policy(retry=RetryPolicy(errors=True)), "errors is True; give a member of RetryErrors"),
    (Policy(retry=RetryPolicy(errors="name")), "errors is 'name'; give a member of RetryErrors"),
    (Policy(rules=TransferRules(http_version=None)), "HTTP version is None; give a member of HTTPVersion"),
    (Policy(rules=TransferRules(http_version="2")), "HTTP version is '2'; give a member of HTTPVersion"),
    (Policy(constraints=Constraints(networks=NetworkKind(0))), "networks is empty"),
]


@pytest.mark.parametrize(("given", "words"), WRONG_CONSTANTS)
def test_a_value_that_is_no_member_of_its_enumeration_raises_an_error_that_says_what_to_give(given, words):
    request = Request("http://a/", policy=given) if isinstance(given, Policy) else given
    with pytest.raises(InvalidArgument, match=words):
        _writing_transfers.requests([request])


@pytest.mark.parametrize("state", [True, None, "running", 40, IfExists.REPLACE])
def test_a_state_that_is_no_task_state_raises_an_error(state):
    with pytest.raises(InvalidArgument, match="state is"):
        _writing.selection(None, [state])


@pytest.mark.parametrize("hosting", [True, None, "daemon"])
def test_a_hosting_that_is_no_member_of_hosting_raises_an_error(hosting):
    with pytest.raises(InvalidArgument, match="give a member of Hosting, such as Hosting.DAEMON"):
        _writing.application_options("a", None, hosting, None, False)


def test_an_empty_set_of_errors_to_retry_is_written_as_none():
    raw = _writing_transfers.policy(Policy(retry=RetryPolicy(errors=RetryErrors(0))))
    assert raw.retry.errors == RetryErrors.NONE


@pytest.mark.parametrize(("given", "words"), [
    (timedelta(seconds=5), "first_delay_ms is a timedelta; give milliseconds, such as 5000"),
    (0.5, "first_delay_ms is 0.5; give an integer"), (-1, "first_delay_ms is -1, which is negative"),
    (2**32, "first_delay_ms is 4294967296, which is too large"), (True, "first_delay_ms is True; give an integer"),
])
def test_the_error_for_a_wrong_duration_says_what_to_give_and_no_range_of_c(given, words):
    with pytest.raises(InvalidArgument, match=words) as caught:
        _writing.launch(LaunchCommand("/bin/true", first_delay_ms=given))
    assert "4294967295" not in str(caught.value)


@pytest.mark.parametrize(("given", "number"), [(None, 0), (True, 1), (False, 2)])
def test_none_is_written_as_default_and_true_is_written_as_yes_and_false_is_written_as_no(given, number):
    configuration = SessionConfiguration("s", sends_launch_events=given, asks_for_credentials=given)
    raw = _writing_transfers.configuration(configuration)
    assert (raw.sends_launch_events, raw.asks_for_credentials) == (number, number)


def test_a_choice_must_be_true_or_false_or_none():
    with pytest.raises(InvalidArgument, match="give True, False, or None"):
        _writing_transfers.configuration(SessionConfiguration("s", asks_for_credentials="no"))


variable = without_nul.filter(lambda name: name and "=" not in name)


@given(st.lists(without_nul, max_size=10), st.dictionaries(variable, without_nul))
def test_a_launch_command_is_written_to_a_struct_unchanged(arguments, environment):
    command = LaunchCommand(
        Path("/usr/bin/env"), arguments, environment, Path("/srv"), attach_timeout_ms=1, first_delay_ms=2,
        longest_delay_ms=3, maximum_launches=4,
    )
    pointed = _writing.launch(command)
    gc.collect()
    raw = pointed.contents
    assert (raw.program, raw.working_directory) == (b"/usr/bin/env", b"/srv")
    assert [raw.arguments[i].decode() for i in range(raw.argument_count)] == arguments
    additions = [raw.environment[i].decode() for i in range(raw.environment_count)]
    assert dict(addition.split("=", 1) for addition in additions) == environment
    assert (raw.attach_timeout_ms, raw.first_delay_ms, raw.longest_delay_ms, raw.maximum_launches) == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (LaunchCommand("/bin/a", "--one --two"), "give a list of them"),
        (LaunchCommand("/bin/a", ["a\0"]), "argument contains a NUL"),
        (LaunchCommand("/bin/a", environment={"A=B": "c"}), "without '='"),
        (LaunchCommand("/bin/a", environment={"": "c"}), "is no name of an environment variable"),
        (LaunchCommand("/bin/a", environment={"A": "\0"}), "environment variable A contains a NUL"),
        (LaunchCommand("/bin/a", maximum_launches=-1), "maximum_launches is -1"),
    ],
)
def test_a_launch_command_that_c_cannot_represent_is_refused(command, words):
    with pytest.raises(InvalidArgument, match=words):
        _writing.launch(command)


def test_the_options_of_an_application_are_written_to_a_struct_unchanged():
    raw = _writing.application_options("app", Path("/store"), Hosting.EMBEDDED, Path("/d"), True)
    gc.collect()
    assert (raw.identifier, raw.store, raw.hosting, raw.daemon) == (b"app", b"/store", 2, b"/d")
    assert (raw.flags, bool(raw.launch)) == (1, False)


def test_the_optional_fields_of_an_application_are_unset_by_default():
    raw = _writing.application_options("app", None, Hosting.DEFAULT, None, False)
    assert (raw.store, raw.hosting, raw.flags, raw.daemon) == (None, 0, 0, None)


def test_a_credential_without_a_password_is_written_with_an_empty_password():
    raw = _writing.response(user="me")
    assert (raw.kind, raw.user, raw.password, raw.header_count) == (2, b"me", b"", 0)


def test_a_response_that_gives_headers_for_the_challenge_is_written():
    raw = _writing.response(headers={"Authorization": "Bearer t"})
    gc.collect()
    assert (raw.kind, raw.header_count, raw.user) == (3, 1, None)
    assert (raw.headers[0].name, raw.headers[0].value) == (b"Authorization", b"Bearer t")


def test_a_response_that_refuses_the_challenge_is_written():
    assert _writing.response(refuse=True).kind == 1


@pytest.mark.parametrize(
    "response",
    [
        {}, {"user": "me", "password": "p", "headers": {}}, {"user": "me", "refuse": True},
        {"headers": {}, "refuse": True}, {"url": "http://a/", "headers": {}}, {"default": True, "refuse": True},
    ],
)
def test_a_response_to_a_challenge_must_have_exactly_one_kind(response):
    with pytest.raises(InvalidArgument, match="give exactly one of them"):
        _writing.response(**response)


def test_a_challenge_or_its_id_is_accepted_but_an_event_is_refused():
    asked = Challenge(7, ChallengeKind.SERVER, Scheme.BASIC, "https://a:443", None, 0, 0, 1)
    assert (_writing.challenge(asked), _writing.challenge(7)) == (7, 7)

    class Event:
        id = 9

    with pytest.raises(InvalidArgument, match="such as event.challenge"):
        _writing.challenge(Event())


@pytest.mark.parametrize(("seconds", "milliseconds"), [(0.5, 500), (60, 60_000), (0, 0), (1e-9, 1)])
def test_an_interval_is_converted_to_milliseconds_and_only_0_seconds_become_0(seconds, milliseconds):
    assert _writing.interval_ms(seconds) == milliseconds


@pytest.mark.parametrize("seconds", ["1", float("nan"), float("inf"), 1e9])
def test_an_interval_that_is_not_a_valid_number_of_seconds_is_refused(seconds):
    with pytest.raises(InvalidArgument, match="interval"):
        _writing.interval_ms(seconds)
