"""Invalid input of a host: each call fails with a clear error, and nothing is lost or partly applied. To claim a
downloaded file is to move it out of the store."""

import os
import re
from ctypes import POINTER, byref, c_char_p, c_void_p, pointer, sizeof

import pytest

import backhaul
from backhaul import (
    BackhaulError,
    Hosting,
    InvalidArgument,
    InvalidHandle,
    NotFound,
    Request,
    Status,
    _ctypes,
    _writing_transfers,
)
from backhaul._functions import FUNCTIONS
from backhaul._handles import call, new_error
from backhaul._library import library as loaded
from servers.content import Content
from testbed.settings import nested

pytestmark = pytest.mark.both_hostings

SIZE = sizeof(_ctypes.bh_request)
GOOD_URL = "http://127.0.0.1:9/a"


@pytest.fixture
def application(store, hosting):
    with backhaul.Application("org.example.bad-input", store, hosting=hosting) as opened:
        yield opened


@pytest.fixture
def session(application):
    with application.session("gallery") as opened:
        yield opened


def sentence(error):
    """Returns the message of an error. Checks that the message is one line of more than 15 characters."""
    message = str(error)
    assert len(message) > 15 and "\n" not in message, message
    return message


@pytest.mark.parametrize("identifier", ["", "x" * 256, "has space", "sl/ash", "ümlaut", ".dot", "-dash", "a\nb"])
def test_an_invalid_application_identifier_is_refused(store, identifier):
    with pytest.raises(InvalidArgument) as caught:
        backhaul.Application(identifier, store, hosting=Hosting.EMBEDDED)
    assert "identifier" in sentence(caught.value)
    assert not store.exists()


@pytest.mark.parametrize("identifier", ["", "x" * 256, "é" * 128, "a\nb", "a\x7fb"])
def test_an_invalid_session_identifier_is_refused(application, identifier):
    for open_ in (application.session, application.attach):
        with pytest.raises(InvalidArgument) as caught:
            open_(identifier)
        assert "identifier" in sentence(caught.value)
    assert application.sessions() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"connections_per_origin": 257}, {"maximum_running_tasks": 1_025}, {"ca_file": "relative.pem"},
        {"first_delay_ms": 2_000, "longest_delay_ms": 1_000},
    ],
    ids=str,
)
def test_an_invalid_configuration_is_refused(application, changes):
    with pytest.raises(InvalidArgument) as caught:
        application.session("gallery", **nested(**changes))
    assert next(iter(changes)).split("_")[0] in sentence(caught.value).lower().replace("-", "_")


@pytest.mark.parametrize(
    "url",
    [
        "", "nonsense", "//127.0.0.1/a", "http:", "http://", "ftp://127.0.0.1/a", "file:///etc/passwd",
        "HTTPX://a/", "http://user:secret@127.0.0.1/a", "http://user@127.0.0.1/a", "http://127.0.0.1:99999/a",
        "http://127.0.0.1:0x50/a", "http://a b/", "http://127.0.0.1/a b", "http://127.0.0.1/a\r\nX: y", "http://[::1/a",
        "http://127.0.0.1/" + "a" * 16_384, "javascript:alert(1)", "http://127.0.0.1/\x01",
    ],
)
def test_an_invalid_url_is_refused(session, url):
    with pytest.raises(InvalidArgument) as caught:
        session.download(url)
    assert caught.value.index == 0
    assert "secret" not in sentence(caught.value)
    assert list(session.tasks()) == []


def destinations(place):
    (place / "file").write_bytes(b"")
    (place / "closed").mkdir(mode=0o500)
    (place / "folder").mkdir()
    return {
        "relative": ("relative/path", Status.INVALID_ARGUMENT),
        "empty": ("", Status.INVALID_ARGUMENT),
        "ends in a slash": (f"{place}/folder/", Status.INVALID_ARGUMENT),
        "dots": (f"{place}/folder/..", Status.INVALID_ARGUMENT),
        "a directory": (place / "folder", Status.DESTINATION_UNAVAILABLE),
        "in a directory that is missing": (place / "missing" / "a", Status.DESTINATION_UNAVAILABLE),
        "below a file": (place / "file" / "a", Status.DESTINATION_UNAVAILABLE),
        "a name that is too long": (place / ("n" * 256), Status.INVALID_ARGUMENT),
        "a path that is too long": ("/" + "/".join(["n" * 200] * 21), Status.INVALID_ARGUMENT),
        "root itself": ("/", None),
        "in the kernel's file system": ("/proc/self/a", Status.DESTINATION_UNAVAILABLE),
    }


@pytest.mark.parametrize("name", [
    "relative", "empty", "ends in a slash", "dots", "a directory", "in a directory that is missing", "below a file",
    "a name that is too long", "a path that is too long", "root itself", "in the kernel's file system"])
@pytest.mark.parametrize("if_exists", ["fail", "replace"])
def test_an_invalid_destination_is_refused(session, place, name, if_exists):
    destination, status = destinations(place)[name]
    with pytest.raises(BackhaulError) as caught:
        session.download(GOOD_URL, destination, if_exists=if_exists)
    if status is not None:
        assert caught.value.status is status, caught.value
    assert caught.value.index == 0
    sentence(caught.value)
    assert list(session.tasks()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"key": ""}, {"key": "k" * 256}, {"user_data": b"u" * 65_537}, {"priority": 102}, {"priority": -101},
        {"mode": 0o10000}, {"if_exists": 7}, {"headers": {"A": "b\r\nInjected: yes"}}, {"headers": {"A\n": "b"}},
        {"headers": {"": "b"}}, {"headers": {"A B": "c"}}, {"headers": {"A:": "b"}}, {"headers": {"A": "b\0"}},
        {"headers": [("A", str(i)) for i in range(101)]}, {"headers": {"A": "v" * 65_537}},
        {"headers": {"Range": "bytes=0-1"}}, {"headers": {"If-Range": '"x"'}}, {"headers": {"Host": "other"}},
    ],
    ids=lambda options: str(options)[:40],
)
def test_an_invalid_request_is_refused(session, options):
    with pytest.raises(InvalidArgument) as caught:
        session.download(GOOD_URL, **options)
    assert caught.value.index == 0
    sentence(caught.value)
    assert list(session.tasks()) == []


def test_the_error_for_an_enqueue_with_one_invalid_request_has_the_index_of_the_request(session, downloads):
    requests = [Request(GOOD_URL, downloads / str(i), suspended=True) for i in range(5_000)]
    requests[3_210] = Request("gopher://127.0.0.1/", downloads / "3210")
    with pytest.raises(InvalidArgument) as caught:
        session.enqueue(requests)
    assert (caught.value.index, list(caught.value.applied)) == (3_210, [])
    assert list(session.tasks()) == []


def test_an_enqueue_with_the_same_destination_twice_is_refused(session, downloads):
    requests = [Request(GOOD_URL + str(i), downloads / str(i % 300), suspended=True) for i in range(301)]
    with pytest.raises(BackhaulError) as caught:
        session.enqueue(requests)
    assert (caught.value.status, caught.value.index) == (Status.DESTINATION_IN_USE, 300)


def test_if_a_later_chunk_of_requests_fails_the_error_has_the_results_of_the_earlier_chunks(session, downloads):
    requests = [Request(GOOD_URL, downloads / str(i), suspended=True) for i in range(250)]
    requests[220] = Request("nonsense", downloads / "220")
    with pytest.raises(InvalidArgument) as caught:
        session.enqueue(iter(requests), chunk=100)
    assert caught.value.index == 220
    assert len(caught.value.applied) == 200
    assert [result.task_id for result in caught.value.applied] == [info.id for info in session.tasks()]


def test_text_that_is_not_utf8_is_refused(session):
    bad = b"http://127.0.0.1/\xff\xfe"
    array = (_ctypes.bh_request * 1)()
    array[0].struct_size = sizeof(_ctypes.bh_request)
    for field in ("url", "destination", "idempotency_key"):
        array[0].url = GOOD_URL.encode()
        array[0].destination = array[0].idempotency_key = None
        setattr(array[0], field, bad if field == "url" else b"/" + bad)
        with pytest.raises(InvalidArgument, match="UTF-8"):
            enqueue_raw(session, array, 1)


@pytest.mark.parametrize("field", ["destination", "body_file", "store"])
def test_a_path_that_is_not_utf8_is_refused_with_its_bytes(session, field):
    path = os.fsdecode(b"/tmp/p\xe9\xff")
    with pytest.raises(InvalidArgument, match=r"is not valid UTF-8: /tmp/p\\xe9\\xff; ") as caught:
        if field == "store":
            backhaul.Application("org.example.bytes", path)
        else:
            session.enqueue([Request(GOOD_URL, **{field: path})])
    assert field.replace("_", " ") in str(caught.value).replace("_", " ")


def enqueue_raw(session, array, count):
    call(loaded.bh_session_enqueue, session._handle.pointer, array, count, 5_000, None)


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, 0), (1, 8), (1, SIZE - 1), (1, SIZE + 1), (2, 2**63), (2**64 - 1, SIZE), (10_000_001, SIZE)],
)
def test_invalid_counts_and_struct_sizes_are_refused(session, count, size):
    array = _writing_transfers.requests([Request(GOOD_URL)])
    array[0].struct_size = size
    with pytest.raises(InvalidArgument):
        enqueue_raw(session, array, count)
    assert list(session.tasks()) == []


#: The structs that hosts fill: structs that are parameters, and structs to which requests point. bh_error is left out,
#: because Tests/C checks that a bh_error of a wrong size counts as NULL.
FILLED = sorted({struct.__name__ for struct in _ctypes.GROWING for _, parameters in FUNCTIONS.values()
                 if POINTER(struct) in parameters} - {"bh_error"} | {"bh_part", "bh_policy"})
GIVEN = {
    "bh_activity": lambda application, session, given: (
        loaded.bh_session_set_activity, session._handle.pointer, given, 5_000),
    "bh_application_options": lambda application, session, given: (
        loaded.bh_application_open, given, 5_000, byref(_ctypes.bh_application())),
    "bh_launch_command": lambda application, session, given: (
        loaded.bh_application_set_launch, application._handle.pointer, given, 5_000),
    "bh_limits": lambda application, session, given: (
        loaded.bh_store_set_limits, application._handle.pointer, given, 5_000),
    "bh_network": lambda application, session, given: (
        loaded.bh_store_set_network, application._handle.pointer, given, 5_000),
    "bh_part": lambda application, session, given: (
        loaded.bh_session_enqueue, session._handle.pointer, request(parts=pointer(given._obj), part_count=1), 1, 5_000,
        None),
    "bh_policy": lambda application, session, given: (
        loaded.bh_session_enqueue, session._handle.pointer, request(policy=pointer(given._obj)), 1, 5_000, None),
    "bh_request": lambda application, session, given: (
        loaded.bh_session_enqueue, session._handle.pointer, given, 1, 5_000, None),
    "bh_challenge_response": lambda application, session, given: (
        loaded.bh_session_respond, session._handle.pointer, 1, given, 5_000),
    "bh_session_configuration": lambda application, session, given: (
        loaded.bh_session_set_configuration, session._handle.pointer, given, 5_000),
    "bh_task_selection": lambda application, session, given: (
        loaded.bh_session_tasks, session._handle.pointer, given, 0, 1, 5_000, byref(_ctypes.bh_batch())),
}


def request(**fields):
    return byref(_ctypes.bh_request(SIZE, GOOD_URL.encode(), **fields))


def test_the_tests_of_struct_sizes_cover_each_struct_that_hosts_fill():
    assert FILLED == sorted(GIVEN)


@pytest.mark.parametrize("name", FILLED)
def test_a_struct_size_that_ends_inside_a_pointer_is_refused_and_the_error_has_a_valid_size(application, session, name):
    struct = getattr(_ctypes, name)
    pointers = [getattr(struct, field).offset for field, kind in struct._fields_
                if issubclass(kind, (c_char_p, c_void_p)) or hasattr(kind, "contents")]
    for size in (offset + cut for offset in pointers for cut in range(1, sizeof(c_void_p))):
        given = struct(struct_size=size)
        function, *arguments = GIVEN[name](application, session, byref(given))
        with pytest.raises(InvalidArgument) as caught:
            call(function, *arguments)
        numbers = {int(number) for number in re.findall(r"\d+", sentence(caught.value))}
        assert f"struct_size {size}," in str(caught.value) and len(numbers) > 1, caught.value
        # If the size is less than in every version of the header, the message has the smallest and the largest size.
        assert sizeof(struct) in numbers or "can be" in str(caught.value), caught.value


@pytest.mark.parametrize("maximum", [0, 10_001, 2**64 - 1])
def test_a_maximum_number_of_events_or_tasks_that_is_out_of_range_is_refused(session, maximum):
    with pytest.raises(InvalidArgument):
        session.start.poll(0, maximum)
    with pytest.raises(InvalidArgument):
        session.start.tasks(maximum=maximum)


@pytest.mark.parametrize("timeout", [-1, -2, -(2**31), 86_400_001, 2**31 - 1])
def test_timeouts_out_of_range_are_refused(session, timeout):
    batch = _ctypes.bh_batch()
    with pytest.raises(InvalidArgument):
        call(loaded.bh_session_poll, session._handle.pointer, 0, 10, timeout, byref(batch))


def test_unknown_roles_and_modes_and_states_are_refused(application, session):
    with pytest.raises(InvalidArgument):
        application.session("other", role=9)
    with pytest.raises(InvalidArgument):
        call(loaded.bh_session_invalidate, session._handle.pointer, 7, 1_000)
    with pytest.raises(InvalidArgument):
        session.start._control(loaded.bh_tasks_cancel, None, {"states": [31]})


def test_a_call_for_an_unknown_task_fails_as_not_found_or_has_no_effect(session):
    with pytest.raises(NotFound):
        session.task(2**63)
    with pytest.raises(NotFound):
        session.claim(2**63, "/var/tmp/never")
    assert session.cancel([2**63, 1]) == 0


def test_claiming_the_file_of_a_task_that_has_not_succeeded_is_refused(session, downloads):
    task = session.download(GOOD_URL, suspended=True)
    with pytest.raises(backhaul.WrongState):
        task.claim(downloads / "a")


def test_an_empty_list_of_tasks_selects_no_task(session):
    session.download(GOOD_URL, suspended=True)
    assert session.cancel([]) == 0
    assert session.acknowledge([]) == 0
    assert list(session.tasks([])) == []
    assert len(list(session.tasks())) == 1


def test_invalid_handles_are_refused(session):
    details = new_error()
    for number in (0, 1, 0xDEAD_BEEF_0000_0001, 2**64 - 1):
        handle = _ctypes.bh_session(number)
        status = loaded.bh_session_complete(handle, 1_000, byref(details))
        assert status in (Status.INVALID_HANDLE, Status.INVALID_ARGUMENT)
        loaded.bh_session_close(handle)
    assert session.configuration().identifier == "gallery"


def test_a_call_after_close_is_refused(application, misbehaving):
    session = application.session("gallery")
    raw = _ctypes.bh_session(session._handle.pointer.value)
    url = misbehaving.serve("/a", Content(10))
    session.close()
    with pytest.raises(InvalidHandle):
        session.download(url)
    details = new_error()
    assert loaded.bh_session_complete(raw, 1_000, byref(details)) == Status.INVALID_HANDLE
    assert b"closed" in details.message


def test_an_invalid_store_path_is_refused(place):
    (place / "file").write_bytes(b"")
    for path, status in {
        "relative": Status.INVALID_ARGUMENT,
        "/" + "s" * 4_000: Status.INVALID_ARGUMENT,
        "": Status.INVALID_ARGUMENT,
        str(place / "missing" / "store"): Status.STORE_UNAVAILABLE,
        str(place / "file"): Status.INVALID_ARGUMENT,
        "/proc/self/store": Status.STORE_UNAVAILABLE,
    }.items():
        with pytest.raises(BackhaulError) as caught:
            backhaul.Application("org.example.store", path, hosting=Hosting.EMBEDDED)
        assert caught.value.status in (status, Status.STORE_UNAVAILABLE), (path, caught.value)
        sentence(caught.value)
    assert sorted(os.listdir(place)) == ["file"]


def test_a_long_path_of_a_store_works(place):
    """The path is longer than the address of a Unix socket may be."""
    deep = place
    while len(str(deep)) < 1_000:
        deep = deep / ("d" * 50)
    deep.mkdir(parents=True)
    with backhaul.Application("org.example.deep", deep / "store", hosting=Hosting.EMBEDDED) as application:
        with application.session("s"):
            assert [info.identifier for info in application.sessions()] == ["s"]
