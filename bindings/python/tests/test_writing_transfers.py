"""Requests, policies, configurations and limits are converted to structs with the right values."""

import gc
from ctypes import sizeof, string_at
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from backhaul import (
    HISTORY_NONE,
    PRIORITY_NOW,
    TLS,
    BodySource,
    Cookies,
    HTTPVersion,
    InvalidArgument,
    Limits,
    Part,
    Policy,
    Proxy,
    Refresh,
    Request,
    RetryErrors,
    RetryPolicy,
    SessionConfiguration,
    TLSVersion,
    Tolerances,
    TransferRules,
    _writing,
    _writing_transfers,
)


def one(**options):
    array = _writing_transfers.requests([Request("http://a/", **options)])
    gc.collect()
    return array, array[0]


def test_the_options_of_a_request_are_written_to_a_struct():
    _array, raw = one(
        destination=Path("/d"), method="GET", group="g", checksum="sha-256:00", expected_size=2**63,
        priority=PRIORITY_NOW, if_exists="skip", if_changed=True, named_by_server=True, ignores_digests=True,
        suspended=True,
    )
    assert (raw.method, raw.group, raw.checksum, raw.expected_size) == (b"GET", b"g", b"sha-256:00", 2**63)
    assert (raw.priority, raw.if_exists, raw.flags) == (101, 2, 1 | 2 | 4 | 8)


def test_a_request_without_options_sets_no_option_in_its_struct():
    _array, raw = one()
    assert (raw.method, raw.group, raw.checksum, raw.body_file, raw.body) == (None, None, None, None, None)
    assert (raw.expected_size, raw.body_size, raw.part_count, raw.body_source) == (0, 0, 0, 0)
    assert (raw.refresh, raw.expires_ms, raw.flags) == (0, 0, 0)
    assert not raw.parts and not raw.policy


def test_a_body_file_and_its_body_source_are_written():
    _array, raw = one(body_file=Path("/photo.jpg"), body_source="consume", method="POST")
    assert (raw.body_file, raw.body_source, raw.method) == (b"/photo.jpg", 2, b"POST")
    assert one(body_file="/a", body_source=BodySource.SNAPSHOT)[1].body_source == 1


@pytest.mark.parametrize("body", [b"", b"\0\1\2", bytearray(b"ab"), memoryview(b"cd")])
def test_a_body_of_bytes_is_written_even_if_it_is_empty(body):
    _array, raw = one(body=body)
    assert raw.body is not None
    assert string_at(raw.body, raw.body_size) == bytes(body)


def test_the_parts_of_a_form_are_written():
    _array, raw = one(parts=[
        Part("title", "Grüße"), Part("blob", b"\0\1", media_type="image/png", file_name="x.png"),
        Part("photo", file=Path("/p.jpg")), Part("empty", ""),
    ])
    title, blob, photo, empty = (raw.parts[index] for index in range(raw.part_count))
    assert (title.name, string_at(title.value, title.value_size), title.file) == (b"title", "Grüße".encode(), None)
    assert string_at(blob.value, blob.value_size) == b"\0\1"
    assert (blob.media_type, blob.file_name) == (b"image/png", b"x.png")
    assert (photo.file, photo.value, photo.file_name) == (b"/p.jpg", None, None)
    assert (empty.name, empty.value_size) == (b"empty", 0)


def test_expiry_times_are_written_in_milliseconds():
    moment = datetime(2030, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    for given in (moment, moment.timestamp()):
        _array, raw = one(refresh="url", expires=given)
        assert (raw.refresh, raw.expires_ms) == (2, int(moment.timestamp() * 1000))
    assert one(refresh=Refresh.HEADERS)[1].refresh == 1


POLICY = Policy(
    retry=RetryPolicy(maximum_attempts=1, first_delay_ms=2, longest_delay_ms=3, jitter_percent=4,
                      errors=RetryErrors.NAME | RetryErrors.LOST, unsafe_methods=True, statuses="500-599"),
    rules=TransferRules(accepted_statuses="200,404", request_timeout_ms=5, resource_timeout_ms=2**40,
                        http_version=HTTPVersion.HTTP_2, redirects="same_origin", maximum_redirects=6,
                        maximum_size=2**41),
    bytes_per_second=2**42,
)


def same_policy(raw):
    retry, rules = raw.retry, raw.rules
    assert (retry.maximum_attempts, retry.first_delay_ms, retry.longest_delay_ms) == (1, 2, 3)
    assert (retry.jitter_percent, retry.errors, retry.unsafe_methods, retry.statuses) == (4, 1 | 4, 1, b"500-599")
    assert (rules.request_timeout_ms, rules.resource_timeout_ms, rules.http_version) == (5, 2**40, 2)
    assert (rules.redirects, rules.maximum_redirects, rules.accepted_statuses) == (2, 6, b"200,404")
    assert (rules.maximum_size, raw.bytes_per_second) == (2**41, 2**42)


def test_a_policy_that_two_requests_share_is_written_for_each_of_them():
    array = _writing_transfers.requests([Request("http://a/", policy=POLICY), Request("http://b/", policy=POLICY)])
    gc.collect()
    same_policy(array[0].policy.contents)
    same_policy(array[1].policy.contents)


def test_an_empty_policy_sets_no_field_of_its_struct():
    raw = _writing_transfers.policy(Policy())
    assert bytes(raw)[8:] == bytes(sizeof(raw) - 8)


def test_a_configuration_is_written():
    raw = _writing_transfers.configuration(SessionConfiguration(
        "s", **vars(POLICY), headers={"A": "b"}, cookies="persistent",
        proxy=Proxy(url="http://p:1", user="u", password="w", bypass="localhost"),
        tls=TLS(minimum_version=TLSVersion.TLS_1_3, client_certificate=Path("/c.pem"), client_key="/k.pem",
                pinned_public_keys="sha256//x"),
        history_limit=HISTORY_NONE, tolerances=Tolerances.MISSING_CLOSE_NOTIFY | Tolerances.EARLY_RESPONSE,
    ))
    gc.collect()
    same_policy(raw)
    assert (raw.headers[0].name, raw.headers[0].value, raw.header_count) == (b"A", b"b", 1)
    proxy, tls = raw.proxy, raw.tls
    assert (proxy.url, proxy.user, proxy.password, proxy.bypass) == (b"http://p:1", b"u", b"w", b"localhost")
    assert (raw.cookies, tls.minimum_version, raw.history_limit) == (Cookies.PERSISTENT, 13, 2**32 - 1)
    assert raw.tolerances == 1 | 2
    assert (tls.client_certificate, tls.client_key, tls.pinned_public_keys) == (b"/c.pem", b"/k.pem", b"sha256//x")


def test_limits_are_written():
    raw = _writing_transfers.limits(Limits(2**40, 1, 2, 3))
    assert (raw.bytes_per_second, raw.maximum_running_tasks) == (2**40, 1)
    assert (raw.maximum_connections, raw.connections_per_origin) == (2, 3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"body": "text"}, "body is a str instead of bytes"),
        ({"parts": [Part("n", 7)]}, "value of the part n is a int instead of bytes"),
        ({"parts": [Part("n\0")]}, "name of a part contains a NUL"),
        ({"body_source": "hardlink"}, "say 'reference' or 'snapshot' or 'consume'"),
        ({"refresh": "all"}, "say 'none' or 'headers' or 'url'"),
        ({"expires": datetime(2030, 1, 1)}, "without a time zone"),
        ({"expires": 1.9e12}, "no Unix seconds"),
        ({"expires": 0}, "no Unix seconds"),
        ({"expires": "soon"}, "give a datetime or Unix seconds"),
        ({"expires": float("nan")}, "give a datetime or Unix seconds"),
        ({"expected_size": -1}, "expected size is -1"),
        ({"policy": Policy(retry=RetryPolicy(maximum_attempts=-1))}, "maximum_attempts is -1"),
        ({"policy": Policy(retry=RetryPolicy(unsafe_methods=1))}, "unsafe_methods is 1"),
        ({"policy": Policy(rules=TransferRules(redirects="some"))}, "say 'follow' or"),
        ({"policy": Policy(rules=TransferRules(accepted_statuses="\0"))}, "accepted_statuses contains a NUL"),
        ({"method": b"GET"}, "method is a bytes instead of a str"),
    ],
)
def test_a_value_that_c_cannot_represent_raises_an_error_with_the_index_of_its_request(options, words):
    with pytest.raises(InvalidArgument, match=words) as caught:
        _writing_transfers.requests([Request("http://a/"), Request("http://b/", **options)], first=5)
    assert caught.value.index == 6


def test_repr_shows_no_secrets():
    shown = repr(Request("http://a/", headers={"Authorization": "Bearer secret"}, body=b"secret"))
    shown += repr(SessionConfiguration("s", headers={"A": "secret"}, proxy=Proxy(user="u", password="secret")))
    assert "secret" not in shown and "http://a/" in shown


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"default": True}, (4, None, 0, 0)),
        ({"url": "http://a/?signed"}, (5, b"http://a/?signed", 0, 0)),
        ({"refuse": True, "keep": True}, (1, None, 0, 1)),
        ({"user": "", "password": "", "expires": 1_900_000_000}, (2, None, 1_900_000_000_000, 0)),
    ],
)
def test_a_response_to_a_challenge_is_written(response, expected):
    raw = _writing.response(**response)
    assert (raw.kind, raw.url, raw.expires_ms, raw.flags) == expected


def test_a_selection_of_tasks_can_consist_of_a_group_of_tasks():
    chosen = _writing.selection(None, (), "photos").contents
    assert (chosen.group, chosen.id_count, chosen.states) == (b"photos", 0, 0)
    with pytest.raises(TypeError):
        _writing.selection(None, state=[1])
