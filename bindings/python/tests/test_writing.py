"""Values on their way into C: nothing is cut, lost or freed too early."""

import gc
from ctypes import string_at
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backhaul import IfExists, InvalidArgument, Request, SessionConfiguration, TaskState, _writing

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
            mode=st.none() | st.integers(0, 2**32 - 1),
        ),
        max_size=20,
    )
)
def test_requests_arrive_in_c_as_they_were_given(requests):
    array = _writing.requests(requests)
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
        (Request(b"http://a/"), "URL is a bytes instead of a str"),
        (Request("http://a/", 7), "destination is a int instead of a path"),
        (Request("http://a/", priority=2**31), "priority is 2147483648, which is no integer"),
        (Request("http://a/", mode=-1), "mode is -1, which is no integer"),
        (Request("http://a/", if_exists="maybe"), "say 'fail' or 'replace'"),
    ],
)
def test_what_c_could_not_be_told_is_refused_with_its_number(request_, words):
    with pytest.raises(InvalidArgument, match=words) as caught:
        _writing.requests([Request("http://a/"), request_], first=100)
    assert caught.value.index == 101


def test_a_configuration_arrives_as_it_was_given():
    raw = _writing.configuration(SessionConfiguration("gallery", resource_timeout_ms=2**63, ca_file=Path("/ca.pem")))
    assert (raw.identifier, raw.resource_timeout_ms, raw.ca_file) == (b"gallery", 2**63, b"/ca.pem")


def test_a_selection_keeps_its_ids_alive():
    chosen = _writing.selection(range(1, 1001), [TaskState.WAITING, TaskState.RUNNING])
    gc.collect()
    raw = chosen.contents
    assert [raw.ids[i] for i in range(raw.id_count)] == list(range(1, 1001))
    assert raw.states == 0b110


def test_enumerations_as_numbers_are_checked_at_once():
    assert _writing.number("policy", IfExists.REPLACE, _writing.UINT64) == 1
