"""Several commands that try to read the events of one session. Only one command at a time has the right to read
them. The command with this right is the session's consumer. The consumer may give up the right for another command
that waits. To acknowledge an event is to confirm that it was processed."""

import json
import os
import re
import signal

import pytest

from command_line import lift_speed_limit, until
from testbed.host import stop

pytestmark = pytest.mark.hosting("daemon")

CONTENT = b"picture" * 1000


def test_the_wait_command_with_the_when_free_option_waits_until_the_stopped_consumer_has_ended(backhaul, serve):
    server = serve({"/slow": CONTENT * 100}, speed=20_000)
    holder = backhaul.start("get", "--session", "one", f"{server.url}/slow")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [holder.pid], "the reader")
    ended = backhaul("wait", "--session", "one", code=5)
    assert f"process {holder.pid} reads the events" in ended.stderr
    stop(holder.pid)
    second = backhaul.start("wait", "--session", "one", "--when-free")
    until(lambda: backhaul.json("sessions")[0]["waiting_consumers"] == 1, "the queue")
    assert re.search(rf"read by process {holder.pid}, stopped for \d+ s, 1 waiting", backhaul("sessions").stdout)
    os.kill(holder.pid, 9)
    lift_speed_limit(server)
    output, errors = second.communicate(timeout=60)
    assert second.returncode == 0, errors
    assert output == f"{backhaul.here}/slow\n"


def test_the_get_command_gives_the_events_to_a_waiting_command_and_still_gets_its_own_file(backhaul, serve):
    server = serve({"/slow": CONTENT * 100}, speed=20_000)
    holder = backhaul.start("get", f"{server.url}/slow")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [holder.pid], "the reader")
    second = backhaul.start("wait", "--when-free")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [second.pid], "the next reader")
    lift_speed_limit(server)
    for process in (holder, second):
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert output == f"{backhaul.here}/slow\n"


def test_the_wait_command_exits_with_5_when_it_gives_the_session_to_another_command(backhaul, serve):
    server = serve({"/slow": CONTENT * 100}, speed=20_000)
    backhaul("add", f"{server.url}/slow")
    first = backhaul.start("wait")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [first.pid], "the reader")
    second = backhaul.start("wait", "--when-free")
    _, errors = first.communicate(timeout=60)
    assert first.returncode == 5
    assert "asked for the events" in errors
    lift_speed_limit(server)
    assert second.wait(60) == 0


def beside_a_reader(backhaul, url, *options):
    """Starts `wait`, which reads the events until a slow transfer ends. Then starts `get`. Returns the processes of the
    two commands."""
    backhaul("add", url + "/slow")
    waiting = backhaul.start("wait")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [waiting.pid], "the reader")
    getting = backhaul.start("get", *options, url + "/b")
    until(lambda: len(backhaul.json("tasks")) == 2 and backhaul.json("tasks")[1]["size"], "the second transfer")
    return waiting, getting


@pytest.mark.parametrize("options", [[], ["--if-exists", "replace"]])
def test_the_get_command_exits_with_0_if_its_file_arrives_while_another_command_reads_events(backhaul, serve, options):
    server = serve({"/slow": CONTENT * 100, "/b": CONTENT * 100}, speed=60_000)
    if options:
        (backhaul.here / "b").write_bytes(b"former")
    processes = beside_a_reader(backhaul, server.url, *options)
    lift_speed_limit(server)
    for process in processes:
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert f"{backhaul.here}/b\n" in output
    assert (backhaul.here / "b").read_bytes() == CONTENT * 100


@pytest.mark.parametrize("options", [[], ["--if-exists", "replace"]])
def test_get_exits_with_9_if_its_task_ended_without_a_file_and_another_command_acknowledged_the_end(
        backhaul, serve, options):
    server = serve({"/slow": CONTENT * 100, "/b": CONTENT * 100}, speed=60_000)
    if options:
        (backhaul.here / "b").write_bytes(b"x" * len(CONTENT * 100))
    waiting, getting = beside_a_reader(backhaul, server.url, "--json", *options)
    stop(getting.pid)
    backhaul("cancel", backhaul.json("tasks")[1]["id"])
    until(lambda: len(backhaul.json("tasks")) == 1, "that the other has acknowledged the end")
    os.kill(getting.pid, signal.SIGCONT)
    output, errors = getting.communicate(timeout=60)
    assert getting.returncode == 9, errors
    assert '"task_state":"unknown"' in output
    lift_speed_limit(server)
    waiting.wait(60)


def test_the_wait_command_with_a_task_follows_it_while_another_command_reads_the_events(backhaul, serve):
    server = serve({"/slow": CONTENT * 100, "/b": CONTENT * 100}, speed=20_000)
    backhaul("add", f"{server.url}/slow", f"{server.url}/b")
    slow = backhaul.json("tasks")[0]["id"]
    reader = backhaul.start("wait")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [reader.pid], "the reader")
    waiting = backhaul.start("wait", slow)
    lift_speed_limit(server)
    output, errors = waiting.communicate(timeout=60)
    assert (waiting.returncode, output) == (0, f"{backhaul.here}/slow\n"), errors
    assert reader.wait(60) == 0


def test_the_wait_command_beside_another_reader_follows_more_tasks_than_one_reply_can_list(backhaul, serve):
    server = serve({"/slow": CONTENT * 100}, speed=20_000)
    backhaul("add", f"{server.url}/slow")
    reader = backhaul.start("wait")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [reader.pid], "the reader")
    # A reply has about 1 MiB.
    lines = [{"url": f"{server.url}/slow?{'x' * 15_000}", "output": str(number)} for number in range(100)]
    (backhaul.here / "list").write_text("\n".join(map(json.dumps, lines)))
    tasks = [one["task_id"] for one in backhaul.json("add", "--suspended", "-i", "list")]
    ended = backhaul("wait", *tasks, code=5)
    assert "only suspended transfers are left" in ended.stderr
    assert ended.stdout == "" and "acknowledged" not in ended.stderr


def kinds(backhaul):
    return [event["kind"] for event in backhaul.json("events")]


def test_the_wait_command_without_tasks_acknowledges_the_ends_of_groups(backhaul, serve):
    server = serve({"/a": CONTENT, "/b": CONTENT})
    backhaul("add", "--group", "album", f"{server.url}/a", f"{server.url}/b")
    backhaul("wait")
    assert kinds(backhaul) == []


def test_the_get_command_acknowledges_the_end_of_the_group_of_its_transfers(backhaul, serve):
    server = serve({"/a": CONTENT, "/b": CONTENT})
    backhaul("get", "--group", "album", f"{server.url}/a", f"{server.url}/b")
    assert kinds(backhaul) == []


def test_the_end_of_a_group_stays_until_the_end_of_its_last_transfer_is_acknowledged(backhaul, serve):
    server = serve({"/a": CONTENT, "/b": CONTENT, "/c": CONTENT})
    one, two = (one["task_id"] for one in backhaul.json(
        "add", "--group", "album", f"{server.url}/a", f"{server.url}/b"))
    until(lambda: "group_finished" in kinds(backhaul), "the group's end")
    backhaul("get", f"{server.url}/c")
    backhaul("wait", one)
    assert "group_finished" in kinds(backhaul)
    backhaul("wait", two)
    assert kinds(backhaul) == []
