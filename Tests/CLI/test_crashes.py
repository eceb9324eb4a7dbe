"""Commands that a signal ends, and later commands that continue the transfers."""

import array
import fcntl
import signal
import termios

import pytest

from command_line import part_files, until
from testbed.checkpoints import wait_for_checkpoint
from testbed.host import stop

# The command itself runs the engine, which runs the transfers. So a signal that ends the command also ends the
# engine.
pytestmark = pytest.mark.hosting("embedded")

CONTENT = bytes(range(256)) * 20_000
SPEED = 4 << 20


HALF = len(CONTENT) // 2


def until_paused(backhaul, server):
    """Waits until the server pauses in the middle of the file and the engine can resume the transfer."""
    until(server.is_paused, "the pause in the file")
    wait_for_checkpoint(backhaul.store)


def assert_resumed(server):
    """Checks that only the first request starts at byte 0: later requests resume the transfer."""
    first, *later = server.requests()
    assert first.offset == 0
    assert later and all(request.offset > 0 for request in later)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_wait_command_completes_the_transfer_after_a_signal_has_ended_the_get_command(backhaul, serve, number):
    server = serve({"/a": CONTENT}, SPEED, pause_at=HALF)
    process = backhaul.start("get", f"{server.url}/a")
    until_paused(backhaul, server)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == -number
    assert output == ""
    assert "1 transfer is left" in errors
    assert backhaul.wait_command in errors
    assert not (backhaul.here / "a").exists()
    server.release()
    assert backhaul("wait").stdout == f"{backhaul.here}/a\n"
    assert (backhaul.here / "a").read_bytes() == CONTENT
    assert_resumed(server)


def test_a_repeated_get_command_resumes_the_transfer_after_an_interrupt(backhaul, serve):
    server = serve({"/a": CONTENT}, SPEED, pause_at=HALF)
    process = backhaul.start("get", f"{server.url}/a")
    until_paused(backhaul, server)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    server.release()
    assert backhaul("get", f"{server.url}/a").stdout == f"{backhaul.here}/a\n"
    assert (backhaul.here / "a").read_bytes() == CONTENT
    assert_resumed(server)


def test_a_command_ignores_a_signal_that_the_caller_of_the_command_ignores(backhaul, serve):
    server = serve({"/a": CONTENT}, SPEED, pause_at=HALF)
    process = backhaul.start(
        "get", f"{server.url}/a", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    until_paused(backhaul, server)
    process.send_signal(signal.SIGHUP)
    server.release()
    assert process.wait(60) == 0


def test_the_wait_command_completes_all_transfers_after_a_sigkill_of_the_get_command(backhaul, serve):
    contents = {f"/{number}": CONTENT[number:number + (1 << 20)] for number in range(10)}
    server = serve(contents, SPEED)
    process = backhaul.start("get", *(server.url + path for path in contents))
    until(lambda: server.bytes_sent() > 5 << 20, "the first half")
    process.send_signal(signal.SIGKILL)
    printed, _ = process.communicate(timeout=60)
    waited = backhaul("wait").stdout
    for path, content in contents.items():
        assert (backhaul.here / path[1:]).read_bytes() == content
    assert set((printed + waited).splitlines()) == {f"{backhaul.here}{path}" for path in contents}
    assert part_files(backhaul.here) == []
    assert backhaul("wait").stdout == ""


def test_a_second_command_runs_the_engine_when_the_first_command_is_killed(backhaul, serve):
    server = serve({"/a": CONTENT, "/b": CONTENT}, SPEED, pause_at=HALF)
    first = backhaul.start("get", f"{server.url}/a")
    until(server.bytes_sent, "the first transfer")
    second = backhaul.start("get", f"{server.url}/b")
    until(lambda: any(request.path == "/b" and request.sent for request in server.requests()), "the second transfer")
    first.send_signal(signal.SIGKILL)
    server.release()
    output, errors = second.communicate(timeout=60)
    assert second.returncode == 0, errors
    assert output == f"{backhaul.here}/b\n"
    assert (backhaul.here / "b").read_bytes() == CONTENT
    assert backhaul("wait").stdout == f"{backhaul.here}/a\n"
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_the_error_about_a_stopped_engine_has_the_process_id_of_the_engine(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=1 << 18)
    first = backhaul.start("get", f"{server.url}/a")
    until(server.bytes_sent, "the transfer")
    stop(first.pid)
    ended = backhaul("tasks", code=5)
    assert str(first.pid) in ended.stderr
    first.send_signal(signal.SIGCONT)
    assert [task["url"] for task in backhaul.json("tasks")] == [f"{server.url}/a"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_whose_output_is_not_read(backhaul, number):
    urls = "".join(f"http://127.0.0.1:1/{number}.bin\n" for number in range(1000))
    backhaul("add", "--suspended", "--input", "-", stdin=urls)
    process = backhaul.start("tasks", "--json", bufsize=0)
    # The pipe is full, and the command has more to write.
    until(lambda: unread(process.stdout) >= fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ), "a full pipe")
    process.send_signal(number)
    assert process.wait(60) == -number


def unread(pipe):
    """The number of bytes in a pipe."""
    return array.array("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
