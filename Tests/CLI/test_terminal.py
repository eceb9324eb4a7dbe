"""The output of commands on a terminal. No control character from a server may reach the terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

import pytest

from command_line import lift_speed_limit, until
from servers.accepting import AcceptingServer

# The output does not depend on the process that runs the transfers. So these tests run only with the daemon, which
# is a separate process.
pytestmark = pytest.mark.hosting("daemon")

CONTENT = bytes(range(256)) * 8000


class Terminal:
    """A command on a terminal. The terminal is its stdin, stdout and stderr. With `only_errors`, its stdout is a pipe
    instead. `typed` is input that waits on the terminal before the command starts."""

    def __init__(self, backhaul, *words, columns=80, rows=24, only_errors=False, typed=b"", **variables):
        self.control, inner = pty.openpty()
        os.write(self.control, typed)
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        stream = subprocess.PIPE if only_errors else inner
        self.process = subprocess.Popen(
            backhaul.arguments(*words), cwd=backhaul.here, env={**backhaul.environment, **variables}, stdin=inner,
            stdout=stream, stderr=inner, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        backhaul.running.append(self.process)
        os.close(inner)
        self.seen = b""

    def read(self, until_seen=None):
        """Reads the output until the output ends or matches the pattern."""
        limit = time.monotonic() + 60
        while until_seen is None or not re.search(until_seen, self.seen):
            assert time.monotonic() < limit, self.seen
            if not select.select([self.control], [], [], 1)[0]:
                continue
            try:
                data = os.read(self.control, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        return self.seen

    def end(self):
        self.read()
        os.close(self.control)
        return self.process.wait(60)


def screen(seen, columns=80):
    """Returns the lines on a simulated terminal. The simulated terminal supports the control codes of the progress
    display: CR, LF, up, erase line, erase below."""
    lines, row, column = [[]], 0, 0
    for match in re.finditer(r"\x1b\[(\d*)([A-Za-z])|\r|\n|([^\x1b\r\n])", seen.decode()):
        count, command, character = match.groups()
        if match[0] == "\r":
            column = 0
        elif match[0] == "\n":
            row += 1
            while len(lines) <= row:
                lines.append([])
        elif command == "A":
            row = max(0, row - int(count or 1))
        elif command == "K":
            del lines[row][column:]
        elif command == "J":
            del lines[row][column:], lines[row + 1:]
        elif command == "m":
            continue
        elif character:
            lines[row] += [" "] * (column + 1 - len(lines[row]))
            lines[row][column] = character
            column += 2 if unicodedata.east_asian_width(character) in "WF" else 1
            assert column < columns, "a line fills the terminal's last column"
        else:
            pytest.fail(f"the simulated terminal does not support {match[0]!r}")
    return ["".join(line) for line in lines]


@pytest.mark.parametrize("columns", [30, 80, 140])
def test_the_progress_display_fits_into_the_width_of_the_terminal(backhaul, serve, columns):
    server = serve({"/a": CONTENT, "/%E6%96%87%E4%BB%B6" + "-long" * 30: CONTENT}, speed=20_000)
    terminal = Terminal(backhaul, "get", *(server.url + path for path in server.files), columns=columns,
                        only_errors=True)
    terminal.read(rb"0 of 2 done")
    terminal.read(rb"%")
    lift_speed_limit(server)
    assert terminal.end() == 0
    lines = screen(terminal.seen, columns)
    assert re.fullmatch(r"2 files, 4\.\d MB in \d+ s\.", lines[0]), lines
    assert not any(lines[1:]), "the panel was not erased at the end"


def listed(backhaul, *words, columns):
    """Returns the lines of a list on a terminal of this width. No line is wider than the terminal."""
    terminal = Terminal(backhaul, *words, columns=columns)
    assert terminal.end() == 0
    lines = terminal.seen.decode().splitlines()
    for line in lines:
        assert sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line) <= columns, line
    return lines


def test_lists_follow_the_width_of_a_terminal_and_a_pipe_gets_whole_lines(backhaul, serve):
    name = "文件-" + "long-" * 30 + "end.iso"
    url = serve({}).url + "/" + name
    backhaul("add", url, "--attempts", "1")
    until(lambda: backhaul.json("tasks")[0]["state"] == "failed", "the failure")
    message = backhaul.json("tasks")[0]["error_message"]
    [title, line] = listed(backhaul, "tasks", columns=80)
    assert title.endswith("URL")
    assert re.search(r" http:\.\.\.\S+ \(the ser.*\.\.\.$", line), line
    assert listed(backhaul, "tasks", columns=120)[1].count("...") == 2
    assert listed(backhaul, "tasks", columns=400)[1] == backhaul("tasks").stdout.splitlines()[1]
    assert backhaul("tasks").stdout.splitlines()[1].endswith(f"{name} ({message})")
    [title, line] = listed(backhaul, "attempts", 1, columns=80)
    assert title.split()[3:5] == ["FIRST", "ms"] and line.endswith("...")
    assert "LOOKUP ms" in listed(backhaul, "attempts", 1, columns=120)[0]
    assert backhaul("attempts", 1).stdout.splitlines()[1].endswith(message)
    backhaul("wait", code=1)
    assert listed(backhaul, "history", columns=100)[1].endswith("...")
    assert backhaul("history").stdout.splitlines()[1].endswith(f"{name}: {message}")


def test_the_progress_of_a_transfer_with_a_rate_limit_shows_its_bytes(backhaul, serve):
    server = serve({"/a": CONTENT})
    terminal = Terminal(backhaul, "get", "--limit-rate", "100k", f"{server.url}/a", only_errors=True)
    terminal.read(rb"%.* of ")


def test_the_results_stay_readable_if_progress_is_shown_on_the_same_terminal(backhaul, serve):
    server = serve({f"/{number}": CONTENT[:200_000] for number in range(10)}, speed=2 << 20)
    terminal = Terminal(backhaul, "get", *(server.url + path for path in server.files))
    assert terminal.end() == 0
    lines = [line for line in screen(terminal.seen, 500) if line]
    assert sorted(lines[:10]) == sorted(f"{backhaul.here}{path}" for path in server.files)
    assert lines[10].startswith("10 files")


def test_the_wait_command_counts_cancelled_and_failed_transfers_separately(backhaul, serve):
    server = serve({"/a": CONTENT[:1000]})
    backhaul("add", "--suspended", f"{server.url}/cancelled")
    backhaul("cancel", "--all")
    backhaul("add", f"{server.url}/a", f"{server.url}/absent")
    terminal = Terminal(backhaul, "wait", only_errors=True)
    assert terminal.end() == 1
    assert re.search(r"1 file, 1\.0 kB in \d+ s, 1 failed, 1 cancelled\.", terminal.seen.decode())


def test_the_get_command_without_a_terminal_prints_no_progress(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=4 << 20)
    assert backhaul("get", f"{server.url}/a").stderr == ""


@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"TERM": ""}])
def test_a_terminal_that_cannot_move_its_cursor_gets_no_progress(backhaul, serve, variables):
    server = serve({"/a": CONTENT}, speed=4 << 20)
    terminal = Terminal(backhaul, "get", f"{server.url}/a", **variables)
    assert terminal.end() == 0
    assert terminal.seen.decode() == f"{backhaul.here}/a\r\n"


def test_the_get_command_with_the_quiet_option_shows_no_progress_on_a_terminal(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=4 << 20)
    terminal = Terminal(backhaul, "get", "--quiet", f"{server.url}/a", only_errors=True)
    assert terminal.end() == 0
    assert terminal.seen == b""


@pytest.mark.parametrize("value, colored", [("1", False), ("", True)])
def test_the_get_command_prints_no_colors_if_the_variable_no_color_has_a_value(backhaul, serve, value, colored):
    server = serve({"/a": CONTENT}, speed=20_000)
    terminal = Terminal(backhaul, "get", f"{server.url}/a", columns=140, only_errors=True, NO_COLOR=value)
    terminal.read(rb"%")
    lift_speed_limit(server)
    assert terminal.end() == 0
    assert (re.search(rb"\x1b\[[0-9;]*m", terminal.seen) is not None) == colored


def test_after_ctrl_c_the_get_command_prints_how_to_continue(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=20_000)
    terminal = Terminal(backhaul, "get", f"{server.url}/a")
    terminal.read(rb"%")
    os.write(terminal.control, b"\x03")
    assert terminal.end() == -signal.SIGINT
    left = [line for line in screen(terminal.seen, 1000) if line]
    assert len(left) == 1
    assert left[0].removeprefix("^C").startswith("1 transfer is left in session default")
    assert left[0].endswith(backhaul.wait_command)


def test_an_empty_list_is_reported_at_a_terminal_only(backhaul):
    backhaul("add", "--suspended", "http://127.0.0.1:1/a", "--session", "photos")
    for words, sentence in (
            (["tasks", "--session", "photos", "--state", "failed"], "Session photos has no such transfers."),
            (["history", "--session", "photos"], "The history of session photos has no transfers."),
            (["attempts", "1", "--session", "photos"], "Transfer 1 has no attempts.")):
        terminal = Terminal(backhaul, *words)
        assert (terminal.end(), terminal.seen.decode()) == (0, sentence + "\r\n")
        assert (backhaul(*words).stdout, backhaul(*words).stderr) == ("", "")
    backhaul("cancel", "--all", "--session", "photos")
    backhaul("events", "--acknowledge", "--session", "photos")
    terminal = Terminal(backhaul, "tasks", "--session", "photos")
    assert (terminal.end(), terminal.seen.decode()) == (0, "Session photos has no transfers.\r\n")


class HostileServer(AcceptingServer):
    """A server that sends control characters in a response."""

    def __init__(self, head):
        super().__init__()
        self._head = head

    def _serve(self, connection):
        connection.recv(65536)
        connection.sendall(self._head + b"\r\nContent-Length: 4\r\nConnection: close\r\n\r\n\x1b[2J")


CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("head", [
    b"HTTP/1.1 404 \x1b]0;owned\x07",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/\x1b[2J\r\nETag: \"\x9b2J\"\r\nContent-Disposition: a;b=\xe2\x80\xae",
    b"HTTP/1.1 302 Found\r\nLocation: \x1b]0;owned\x07://a",
])
def test_no_control_character_from_a_server_reaches_the_terminal(backhaul, head):
    with HostileServer(head) as server:
        backhaul("add", "--attempts", "1", f"{server.url}/%1B%5B2J")
        until(lambda: not backhaul.json("tasks", "--state", "waiting,running"), "the end")
    (task,) = backhaul.json("tasks")
    for words in (["tasks"], ["tasks", "--json"], ["info", task["id"]], ["events"], ["events", "--json"]):
        output = backhaul(*words).stdout
        assert not CONTROLS.search(output), (words, output)
    ended = backhaul("wait", code=0 if task["state"] == "succeeded" else 1)
    assert not CONTROLS.search(ended.stdout + ended.stderr)


def test_the_page_of_a_report_is_not_written_to_a_terminal(backhaul):
    terminal = Terminal(backhaul, "report")
    assert terminal.end() == 2
    assert b"the page is for a browser, not for a terminal; give a file: --output report.html" in terminal.seen
