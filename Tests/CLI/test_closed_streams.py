"""Commands that are started while stdin, stdout or stderr is closed."""

import subprocess

import pytest

from command_line import LIMIT

CONTENT = b"picture" * 1000


def run(backhaul, closed, *words):
    """Runs a command. `closed` has the streams to close, in the words of a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *backhaul.arguments(*words)], cwd=backhaul.here,
        env=backhaul.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False)


def test_a_result_that_cannot_be_written_makes_the_command_fail(backhaul):
    ended = run(backhaul, ">&-", "limits")
    assert ended.returncode == 1
    assert "standard output cannot be written" in ended.stderr
    assert run(backhaul, ">&-", "--version").returncode == 1


@pytest.mark.parametrize("words", [["limits"], ["--version"], ["help"]])
def test_without_stderr_the_result_is_complete(backhaul, words):
    ended = run(backhaul, "2>&-", *words)
    assert (ended.returncode, ended.stdout) == (0, backhaul(*words).stdout)


def test_a_closed_stdin_is_no_empty_list(backhaul):
    ended = run(backhaul, "<&-", "get", "-i", "-")
    assert ended.returncode == 2
    assert "cannot be read" in ended.stderr


def test_a_file_is_complete_although_all_streams_are_closed(backhaul, serve):
    server = serve({"/a": CONTENT})
    ended = run(backhaul, "<&- >&- 2>&-", "get", f"{server.url}/a")
    assert ended.returncode == 1
    assert (backhaul.here / "a").read_bytes() == CONTENT
