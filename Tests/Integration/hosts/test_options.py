"""Options of sessions, requests and the store: they are stored and listed. Options that are invalid or contradict
each other are refused. A tolerance is a fault of servers that a session accepts. An idempotency key is a text in a
request. A later request with the same text makes no new task. A group is tasks with a common name. The history lists
ended tasks."""

import dataclasses

import pytest

from backhaul import (
    HISTORY_NONE,
    PRIORITY_NOW,
    TLS,
    BackhaulError,
    Conflict,
    Cookies,
    HTTPVersion,
    InvalidArgument,
    Limits,
    NotFound,
    Part,
    Policy,
    Proxy,
    Redirects,
    ResumableUploads,
    Request,
    RetryErrors,
    RetryPolicy,
    SessionConfiguration,
    Status,
    TLSVersion,
    TaskKind,
    Tolerances,
    TransferRules,
)

URL = "http://127.0.0.1:9/never"
SHA_256 = "sha-256:" + "0" * 64
PIN = "sha256//" + "A" * 43 + "="


@pytest.mark.both_hostings
def test_every_setting_of_a_session_is_stored(host):
    given = SessionConfiguration(
        "gallery",
        retry=RetryPolicy(maximum_attempts=3, first_delay_ms=4, longest_delay_ms=5, jitter_percent=9,
                          errors=RetryErrors.NAME | RetryErrors.BAD_RESPONSE, unsafe_methods=True,
                          statuses="503,520-529"),
        rules=TransferRules(request_timeout_ms=6, resource_timeout_ms=7, accepted_statuses="200,404",
                            http_version=HTTPVersion.HTTP_1_1, redirects=Redirects.SAME_ORIGIN, maximum_redirects=10,
                            maximum_size=11, accepted_types="image/*, application/zip", refuses_private_addresses=True,
                            resumable_uploads=ResumableUploads.TUS, s3_endpoint="https://s3.example:9000",
                            s3_region="eu-central-1", s3_profile="work", s3_credential_command="print",
                            s3_path_style=False),
        tls=TLS(minimum_version=TLSVersion.TLS_1_3, client_certificate="/c.pem", client_key="/k.pem",
                pinned_public_keys=PIN + ";" + PIN),
        proxy=Proxy(url="socks5h://proxy.example:1080", user="me", password="secret", bypass="localhost,10.0.0.0/8"),
        headers=(("Accept", "image/*"), ("X-Title", "Gr\u00fc\u00dfe")), bytes_per_second=12,
        connections_per_origin=1, maximum_running_tasks=2, history_limit=13, cookies=Cookies.PERSISTENT,
        sends_launch_events=False, asks_for_credentials=True, launch_if_stopped_ms=8, slow_after_ms=1_000,
        slow_pause_ms=1_001, discretionary_if_launched=False,
        tolerances=Tolerances.MISSING_CLOSE_NOTIFY | Tolerances.EARLY_RESPONSE)
    one = host()
    one.session(**{name: value for name, value in vars(given).items() if name != "identifier"})
    one.kill_with_engine()
    again = host()
    again.attach()
    assert again.configuration() == given
    again.set_configuration(again.configuration())
    assert again.configuration() == given


def test_an_unknown_tolerance_is_refused_and_the_error_names_the_field(host):
    one = host()
    with pytest.raises(InvalidArgument, match="tolerances has the unknown bits 0x4"):
        one.session(tolerances=4)
    one.session()
    assert one.configuration().tolerances == Tolerances(0)


def test_a_session_may_have_no_history(host):
    one = host()
    one.session(history_limit=HISTORY_NONE)
    assert one.configuration().history_limit == HISTORY_NONE


@pytest.mark.both_hostings
def test_the_limits_of_the_store_are_stored(host):
    one = host()
    assert one.limits() == Limits(0, 256, 256, 0)
    one.set_limits(Limits(1_000_000, 1, 2, 3))
    one.kill_with_engine()
    assert host().limits() == Limits(1_000_000, 1, 2, 3)


@pytest.mark.parametrize(
    "limits",
    [Limits(maximum_running_tasks=1_025), Limits(maximum_connections=1_025), Limits(connections_per_origin=257)],
    ids=str,
)
def test_the_error_for_invalid_limits_names_the_field(host, limits):
    one = host()
    name = next(name for name, value in vars(limits).items() if value)
    with pytest.raises(InvalidArgument, match=name):
        one.set_limits(limits)
    assert one.limits() == Limits(0, 256, 256, 0)


@pytest.mark.parametrize(
    ("options", "both"),
    [
        ({"policy": Policy(retry=RetryPolicy(first_delay_ms=2, longest_delay_ms=1))},
         ("first_delay_ms", "longest_delay_ms")),
        ({"policy": Policy(retry=RetryPolicy(errors=RetryErrors.NONE, maximum_attempts=3))},
         ("RetryErrors.NONE", "maximum_attempts")),
        ({"policy": Policy(rules=TransferRules(redirects="none", maximum_redirects=3))},
         ("Redirects.NONE", "maximum_redirects")),
        ({"policy": Policy(rules=TransferRules(accepted_statuses="500"), retry=RetryPolicy(statuses="500-599"))},
         ("accepted_statuses", "retry.statuses")),
        ({"policy": Policy(rules=TransferRules(maximum_size=1)), "expected_size": 2},
         ("maximum_size", "expected_size")),
        ({"body": b"a", "parts": [Part("b", "c")]}, ("body", "parts")),
        ({"parts": [Part("b", "c")], "headers": {"Content-Type": "text/plain"}}, ("parts", "Content-Type")),
        ({"body": b"a", "checksum": SHA_256}, ("body", "checksum")),
        ({"if_exists": "skip"}, ("IfExists.SKIP", "checksum")),
        ({"if_changed": True}, ("if_changed", "IfExists.REPLACE")),
        ({"named_by_server": True}, ("named_by_server", "destination")),
        ({"expires": 1_900_000_000}, ("expires", "Refresh.NONE")),
        ({"body_source": "consume"}, ("body_source", "body_file")),
    ],
    ids=lambda value: str(value)[:50],
)
def test_the_error_for_options_that_contradict_each_other_names_both_options(options, both, one):
    with pytest.raises(InvalidArgument) as caught:
        one.enqueue([Request(URL, **options)])
    assert all(name in str(caught.value) for name in both), caught.value
    assert caught.value.index == 0
    assert one.tasks() == []


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"method": "TRACE"}, "method"), ({"method": "GET /"}, "method"), ({"group": ""}, "group"),
        ({"group": "g" * 256}, "group"), ({"checksum": "md5:00"}, "checksum"), ({"checksum": SHA_256[:-1]}, "checksum"),
        ({"body": b"b" * (2**20 + 1)}, "body"), ({"parts": [Part("")]}, "name"),
        ({"parts": [Part("a\r\n", "b")]}, "name"), ({"parts": [Part("a", "b")] * 1_001}, "part_count"),
        ({"policy": Policy(rules=TransferRules(accepted_statuses="2xx"))}, "accepted_statuses"),
        ({"policy": Policy(retry=RetryPolicy(errors=256))}, "retry.errors"),
        ({"policy": Policy(rules=TransferRules(http_version=9))}, "http_version"),
        ({"policy": Policy(retry=RetryPolicy(jitter_percent=101))}, "jitter_percent"),
        ({"policy": Policy(rules=TransferRules(maximum_redirects=101))}, "maximum_redirects"),
        ({"refresh": 7}, "refresh"), ({"mode": 0}, "mode is 0"), ({"expected_size": 0}, "expected size is 0"),
        ({"range_size": 0}, "size of the range is 0"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_the_error_for_an_invalid_option_names_the_option(options, name, one):
    with pytest.raises(InvalidArgument, match=name):
        one.enqueue([Request(URL, **options)])
    assert one.tasks() == []


@pytest.mark.parametrize("kind", ["missing", "directory", "relative"])
def test_a_body_file_that_is_no_regular_file_is_refused(place, kind, one):
    path = {"missing": place / "nowhere", "directory": place, "relative": "file"}[kind]
    with pytest.raises(BackhaulError) as caught:
        one.upload(URL, path)
    assert caught.value.status in (Status.BODY_UNAVAILABLE, Status.INVALID_ARGUMENT)
    assert one.tasks() == []


def test_options_of_a_task_are_listed(host, place):
    file = place / "body"
    file.write_bytes(b"b" * 1_000)
    one = host()
    one.session()
    now = one.download(URL, group="photos", priority=PRIORITY_NOW, suspended=True)
    upload = one.upload(URL, file, group="photos", suspended=True)
    other = one.download(URL, suspended=True)
    assert [task.id for task in one.tasks(group="photos")] == [now, upload]
    assert [task.id for task in one.tasks()] == [now, upload, other]
    first, second, third = one.tasks()
    assert (first.kind, first.group, first.priority) == (TaskKind.DOWNLOAD, "photos", PRIORITY_NOW)
    assert (second.kind, second.group) == (TaskKind.UPLOAD, "photos")
    assert (third.kind, third.group, third.ended) == (TaskKind.DOWNLOAD, None, None)


def test_one_call_controls_all_tasks_of_a_group(one):
    for group in ("a", "a", "b", None):
        one.download(URL, group=group, suspended=True)
    assert one.set_priority(5, group="a") == 2
    assert [task.priority for task in one.tasks()] == [5, 5, 0, 0]
    assert one.set_rate(1_000, group="b") == 1
    assert one.cancel(group="nobody's") == 0
    assert one.cancel(group="a") == 2


def test_if_a_second_request_with_the_same_idempotency_key_has_another_option_the_error_names_the_option(one):
    one.download(URL, key="k", checksum=SHA_256, suspended=True)
    with pytest.raises(Conflict, match="checksum"):
        one.download(URL, key="k", checksum=SHA_256.replace("0", "1"), suspended=True)
    again = one.enqueue([Request(URL, key="k", checksum=SHA_256, suspended=True)])
    assert not again[0].is_new


def test_a_call_for_the_attempts_of_an_unknown_task_fails_as_not_found(one):
    with pytest.raises(NotFound):
        one.attempts(4711)
    assert one.history() == []


def test_a_change_of_one_field_of_a_configuration_keeps_the_other_fields(host):
    one = host()
    one.session(proxy=Proxy(url="http://127.0.0.1:3128"), headers={"A": "b"})
    one.set_configuration(dataclasses.replace(one.configuration(), bytes_per_second=7))
    changed = one.configuration()
    assert (changed.bytes_per_second, changed.headers) == (7, (("A", "b"),))
    assert changed.proxy == Proxy(url="http://127.0.0.1:3128")
