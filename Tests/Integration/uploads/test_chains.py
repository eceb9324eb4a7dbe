"""Tasks that wait for other tasks, and take the URL, header fields or the body from their responses: create, PUT,
commit."""

import pytest

from backhaul import BackhaulError, Dependency, Reason, Request, Status, TaskState
from servers.chained import ChainedServer
from servers.content import Content
from testbed.host import until

CONTENT = Content(300_000)
FAST = {"first_delay_ms": 10, "longest_delay_ms": 50}


@pytest.fixture
def api():
    with ChainedServer() as running:
        yield running


@pytest.fixture
def storage():
    with ChainedServer() as running:
        yield running


@pytest.fixture
def body(sources):
    (sources / "a").write_bytes(CONTENT.data)
    return sources / "a"


@pytest.fixture
def one(host):
    made = host()
    made.session(**FAST, maximum_attempts=2)
    return made


def chain(api, storage, body):
    """Returns the requests of create, PUT and commit. The response to create names the URL of the PUT, which is at the
    storage, and the commit takes its body and a header from the same response."""
    body_of_create = {"put": [f"{storage.url}/signed?key=5"], "token": "t/1"}
    create = api.answer("/uploads", 201, {"X-Upload-Id": "u7"}, body_of_create)
    storage.answer("/signed?key=5", 200, {"ETag": '"e1"'})
    api.answer("/commit", 200, body={"done": True})
    return [
        Request(create, method="POST", body=b"{}", key="create"),
        Request(f"{api.url}/placeholder", body_file=body, key="put", headers=[("Authorization", "Bearer secret")],
                after=[Dependency(key="create", url="json:/put/0")]),
        Request(f"{api.url}/commit", method="POST", key="commit", headers=[("Authorization", "Bearer secret")],
                after=[Dependency(key="create", body="json:/token", headers={"X-Upload": "header:X-Upload-Id"}),
                       Dependency(key="put", headers={"X-Part": "header:ETag"})]),
    ]


def check_chain(api, storage):
    assert api.log() == [("POST", "/uploads"), ("POST", "/commit")]
    assert storage.log() == [("PUT", "/signed?key=5")]
    _, _, fields, sent = storage.requests[0]
    assert sent == CONTENT.data
    # The URL came from a server, and has another origin, so the header of the request is not sent there.
    assert "Authorization" not in fields
    _, _, fields, sent = api.requests[1]
    assert (sent, fields["X-Upload"], fields["X-Part"]) == (b"t/1", "u7", '"e1"')
    assert fields["Authorization"] == "Bearer secret"


def ends(one):
    return {event.key or event.task_id: event for event in one.wait_for() if event.task_id}


@pytest.mark.both_hostings
def test_create_put_and_commit_run_one_after_the_other_without_the_host(host, one, api, storage, body):
    api.held.add("/uploads")
    one.enqueue(chain(api, storage, body))
    until(api.log, lambda log: log == [("POST", "/uploads")])
    waiting = {task.key: task for task in one.tasks()}
    assert waiting["put"].reason is Reason.DEPENDENCY is waiting["commit"].reason
    assert f"task {waiting['create'].id}" in waiting["put"].reason_text
    api.release()
    assert {event.state for event in ends(one).values()} == {TaskState.SUCCEEDED}
    check_chain(api, storage)


@pytest.mark.both_hostings
@pytest.mark.parametrize("step", ["create", "put"])
def test_a_chain_continues_after_the_engine_was_killed_in_one_of_its_steps(host, one, api, storage, body, step):
    held, path = (api, "/uploads") if step == "create" else (storage, "/signed?key=5")
    requests = chain(api, storage, body)
    # A repeated POST does no harm here.
    requests[0] = Request(requests[0].url, method="PUT", body=b"{}", key="create")
    held.held.add(path)
    one.enqueue(requests)
    until(held.log, lambda log: len(log) == 1)
    one.kill_with_engine()
    held.release()
    again = host()
    again.attach()
    assert {event.state for event in ends(again).values()} == {TaskState.SUCCEEDED}
    assert api.requests[-1][3] == b"t/1"
    assert storage.requests[-1][3] == CONTENT.data


def test_a_kill_between_two_steps_loses_no_value_although_the_first_event_is_acknowledged(
        host, one, api, storage, body):
    requests = chain(api, storage, body)
    one.enqueue(requests[:1])
    events = one.wait_for()
    one.enqueue([Request(requests[1].url, body_file=body, key="put", after=requests[1].after, suspended=True)])
    one.acknowledge_through(events[-1].id)
    one.kill_with_engine()
    again = host()
    again.attach()
    again.resume()
    [event] = [event for event in again.wait_for() if event.key == "put"]
    assert event.state is TaskState.SUCCEEDED
    assert storage.requests[0][3] == CONTENT.data


@pytest.mark.both_hostings
@pytest.mark.parametrize(("policy", "state", "status"), [
    ("fail", TaskState.FAILED, Status.DEPENDENCY_FAILED), ("cancel", TaskState.CANCELLED, Status.CANCELLED),
    ("ignore", TaskState.SUCCEEDED, Status.OK)])
def test_what_happens_after_a_failed_task_is_declared(one, api, policy, state, status):
    api.answer("/second")
    first, _ = one.enqueue([
        Request(f"{api.url}/absent", method="POST", body=b"", key="first"),
        Request(f"{api.url}/second", body=b"2", key="second", after=[Dependency(key="first", if_fails=policy)])])
    event = ends(one)["second"]
    assert (event.state, event.status) == (state, status)
    if policy != "ignore":
        assert f"task {first.task_id}" in event.error_message
        assert ("PUT", "/second") not in api.log()


def test_if_the_first_task_is_cancelled_the_tasks_after_it_fail_and_the_session_finishes_once(one, api):
    api.answer("/a")
    ids = [item.task_id for item in one.enqueue([
        Request(f"{api.url}/a", body=b"1", key="a", suspended=True),
        Request(f"{api.url}/a", body=b"2", key="b", after=[Dependency(key="a")]),
        Request(f"{api.url}/a", body=b"3", key="c", after=[Dependency(key="b")])])]
    one.cancel([ids[0]])
    found = ends(one)
    assert [found[key].status for key in "abc"] == [
        Status.CANCELLED, Status.DEPENDENCY_FAILED, Status.DEPENDENCY_FAILED]
    assert api.log() == []


@pytest.mark.parametrize("location", [
    "ftp://127.0.0.1/a", "http://user:password@127.0.0.1/a", "file:///etc/passwd", "http://", "", "http://[::1/a"])
def test_a_url_that_cannot_be_used_fails_the_task_before_a_request(one, api, location):
    create = api.answer("/create", 201, body={"url": location})
    one.enqueue([Request(create, method="POST", body=b"", key="create"),
                 Request(f"{api.url}/a", body=b"1", key="put", after=[Dependency(key="create", url="json:/url")])])
    event = ends(one)["put"]
    assert event.status is Status.BAD_RESPONSE and "json:/url" in event.error_message
    assert api.log() == [("POST", "/create")]


def test_a_relative_location_is_resolved_against_the_url_of_the_response(one, api):
    create = api.answer("/v1/create", 201, {"Location": "../items/5?x=1"})
    api.answer("/items/5?x=1")
    one.enqueue([Request(create, method="POST", body=b"", key="create", headers=[("X-Key", "1")]),
                 Request(f"{api.url}/", body=b"1", key="put", headers=[("X-Key", "1")],
                         after=[Dependency(key="create", url="header:Location")])])
    assert ends(one)["put"].state is TaskState.SUCCEEDED
    assert api.log()[1] == ("PUT", "/items/5?x=1")
    assert api.requests[1][2]["X-Key"] == "1"


def test_a_download_takes_its_url_from_a_response(one, api, downloads):
    create = api.answer("/query", 200, body={"file": "/result"})
    api.answer("/result", body=b"the result")
    one.enqueue([Request(create, method="POST", body=b"{}", key="query"),
                 Request(f"{api.url}/", downloads / "a", key="get", after=[Dependency(key="query", url="json:/file")])])
    assert ends(one)["get"].state is TaskState.SUCCEEDED
    assert (downloads / "a").read_bytes() == b"the result"


@pytest.mark.parametrize(("after", "status", "message"), [
    ([Dependency(task_id=99)], Status.NOT_FOUND, "no task 99"),
    ([Dependency(key="absent")], Status.NOT_FOUND, "'absent'"),
    ([Dependency()], Status.INVALID_ARGUMENT, "give one of them"),
    ([Dependency(task_id=1, key="a")], Status.INVALID_ARGUMENT, "both"),
    ([Dependency(key="a", url="cookie:x")], Status.INVALID_ARGUMENT, "no place"),
    ([Dependency(key="a", url="url", if_fails="ignore")], Status.INVALID_ARGUMENT, "may not have"),
], ids=["id", "key", "nothing", "both", "place", "ignored"])
def test_an_invalid_dependency_is_refused(one, api, after, status, message):
    with pytest.raises(BackhaulError, match=message) as refused:
        one.enqueue([Request(f"{api.url}/a", body=b"1", after=after)])
    assert refused.value.status is status
