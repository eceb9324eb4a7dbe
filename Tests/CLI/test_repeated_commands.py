"""A repeated command reports what exists already, and does not wait for an end that was acknowledged before."""

import signal

import pytest

from command_line import until

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def slow(serve):
    """A server whose file takes longer than the rest of the test. `lift_speed_limit` removes its speed limit."""
    return serve({"/big": CONTENT * 4}, speed=20_000)


def lift_speed_limit(server):
    server.limit.bytes_per_second = 1 << 30


@pytest.fixture
def url(backhaul, serve, slow):
    """The URL of a file that was fetched and whose end was acknowledged. Another transfer of its round still runs."""
    server = serve({"/a": CONTENT})
    backhaul("add", f"{slow.url}/big")
    assert backhaul("get", f"{server.url}/a").stdout == f"{backhaul.here}/a\n"
    return f"{server.url}/a"


def test_an_existing_file_is_reported_at_once_while_another_is_transferred(backhaul, url):
    ended = backhaul("get", url)
    assert ended.stdout == f"{backhaul.here}/a\n"
    assert f"{backhaul.here}/a exists already: transfer" in ended.stderr


def test_the_same_command_resumes_after_an_interrupt(backhaul, serve, slow):
    words = ["get", f"{serve({'/a': CONTENT}).url}/a", f"{slow.url}/big"]
    first = backhaul.start(*words)
    assert first.stdout.readline() == f"{backhaul.here}/a\n"
    until(lambda: [task["destination"] for task in backhaul.json("tasks")] == [f"{backhaul.here}/big"],
          "that the first end was acknowledged")
    first.send_signal(signal.SIGINT)
    first.wait(60)
    second = backhaul.start(*words)
    assert second.stdout.readline() == f"{backhaul.here}/a\n"
    lift_speed_limit(slow)
    output, errors = second.communicate(timeout=60)
    assert (second.returncode, output) == (0, f"{backhaul.here}/big\n"), errors
    assert (backhaul.here / "big").read_bytes() == CONTENT * 4


def test_a_removed_file_is_fetched_again_each_time(backhaul, url):
    for _ in range(3):
        (backhaul.here / "a").unlink()
        assert backhaul("get", url).stdout == f"{backhaul.here}/a\n"
        assert (backhaul.here / "a").read_bytes() == CONTENT
        assert backhaul("get", url).stdout == f"{backhaul.here}/a\n"


def test_a_truncated_file_is_refused(backhaul, url):
    (backhaul.here / "a").write_bytes(b"mine")
    assert "is already there" in backhaul("get", url, code=4).stderr
    assert (backhaul.here / "a").read_bytes() == b"mine"


def test_replace_fetches_a_file_again_each_time(backhaul, serve, slow):
    server = serve({"/a": CONTENT})
    backhaul("add", f"{slow.url}/big")
    for number in range(1, 4):
        backhaul("get", "--if-exists", "replace", f"{server.url}/a")
        assert len(server.requests()) == number


def test_the_output_has_the_file_name_that_the_server_gave(backhaul, serve, slow):
    server = serve({"/a": CONTENT})
    backhaul("add", f"{slow.url}/big")
    first = backhaul("get", "-J", f"{server.url}/a")
    assert backhaul("get", "-J", f"{server.url}/a").stdout == first.stdout
    assert len(server.requests()) == 1


def test_json_has_a_line_for_an_existing_file(backhaul, url):
    (ended,) = backhaul.json("get", url)
    assert (ended["task_state"], ended["path"], ended["size"]) == ("succeeded", f"{backhaul.here}/a", len(CONTENT))


def test_a_suspended_transfer_is_named_with_the_resume_command(backhaul, slow):
    backhaul("add", f"{slow.url}/big")
    (task,) = backhaul.json("tasks")
    backhaul("suspend", task["id"])
    ended = backhaul("get", f"{slow.url}/big", "--timeout", "1", code=5)
    assert f"Transfer {task['id']} is suspended; it goes on after: backhaul resume {task['id']} " in ended.stderr


def test_add_distinguishes_live_transfers_from_ended_ones(backhaul, slow, url):
    living = backhaul("add", f"{slow.url}/big").stderr
    assert "was enqueued before, and is" in living
    assert "1 transfer enqueued" in living
    over = backhaul("add", url).stderr
    assert "has downloaded it before, and its end is acknowledged" in over
    assert "enqueued" not in over


def test_add_json_has_the_state_of_an_existing_transfer(backhaul, slow, url):
    (over,) = backhaul.json("add", url)
    assert (over["disposition"], over["task_state"], over["event_id"]) == ("existing", "succeeded", None)
    (living,) = backhaul.json("add", f"{slow.url}/big")
    assert (living["disposition"], living["event_id"]) == ("existing", None)
    assert living["task_state"] in ("waiting", "running")


def test_add_enqueues_again_when_the_file_was_removed(backhaul, url):
    (backhaul.here / "a").unlink()
    (first,) = backhaul.json("add", url)
    assert (first["disposition"], first["task_state"]) == ("new", "waiting")
    (second,) = backhaul.json("add", url)
    assert (second["disposition"], second["task_id"]) == ("existing", first["task_id"])


def test_add_names_the_live_transfer_of_an_existing_file(backhaul, url):
    (backhaul.here / "a").unlink()
    (first,) = backhaul.json("add", "--suspended", url)
    # This is the state after a file is placed, and before the end of its transfer is stored.
    (backhaul.here / "a").write_bytes(CONTENT)
    (second,) = backhaul.json("add", "--suspended", url)
    assert (second["disposition"], second["task_id"]) == ("existing", first["task_id"])


@pytest.mark.parametrize("hosting", ["daemon"])
def test_add_names_the_unread_end_event(backhaul, serve):
    url = f"{serve({'/a': CONTENT}).url}/a"
    backhaul("add", url)
    until(lambda: backhaul.json("tasks", "--state", "succeeded"), "the end")
    (found,) = backhaul.json("add", url)
    assert found["event_id"] == backhaul.json("events")[0]["id"]
    assert "its end is not acknowledged yet" in backhaul("add", url).stderr
