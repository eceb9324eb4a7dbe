"""The command `watch`: its screen on a simulated terminal, its keys and signals, and its lines in a pipe."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte
import pytest

from command_line import PROJECT, until
from servers.behaviour import Behaviour

# The screen does not depend on the process that runs the transfers.
pytestmark = pytest.mark.hosting("daemon")

CONTENT = bytes(range(256)) * 8000
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Terminal(pyte.Screen):
    """A simulated terminal that can also scroll by a number of lines (SU and SD)."""

    def _scroll(self, row, step, count):
        former, self.cursor.y = self.cursor.y, row
        for _ in range(count or 1):
            step()
        self.cursor.y = former

    def scroll_up(self, count=1):
        self._scroll(self.margins.bottom if self.margins else self.lines - 1, self.index, count)

    def scroll_down(self, count=1):
        self._scroll(self.margins.top if self.margins else 0, self.reverse_index, count)


class TerminalStream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down"}
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down"}


class LiveScreen:
    """`backhaul watch` on a simulated terminal. `lines` has what the terminal shows."""

    def __init__(self, backhaul, *words, columns=80, rows=24, term="screen-256color", **variables):
        self.control, self.inner = pty.openpty()
        self._set_size(columns, rows)
        self.mode = termios.tcgetattr(self.inner)
        self.process = subprocess.Popen(
            backhaul.arguments("watch", *words), cwd=backhaul.here,
            env={**backhaul.environment, "TERM": term, **variables}, stdin=self.inner, stdout=self.inner,
            stderr=self.inner, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        backhaul.running.append(self.process)
        self.sent = b""
        self.screen = Terminal(columns, rows)
        self.stream = TerminalStream(self.screen)

    def _set_size(self, columns, rows):
        fcntl.ioctl(self.control, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        self._set_size(columns, rows)

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def type(self, keys):
        os.write(self.control, keys.encode())

    def read(self, seconds=0.1):
        """Reads what the command sends in this time at the latest. Returns whether it has sent anything."""
        if not select.select([self.control], [], [], seconds)[0]:
            return False
        data = os.read(self.control, 65536)
        self.sent += data
        self.stream.feed(data)
        return True

    def until(self, pattern, row=None):
        """Reads until a line of the screen, or the line in this row, matches the pattern, and returns this line. The
        terminal may get a line of the screen in parts, so the pattern contains all that the caller expects."""
        limit = time.monotonic() + 60
        rows = slice(row, None if row is None else row + 1)
        while not (found := [line for line in self.lines[rows] if re.search(pattern, line)]):
            assert time.monotonic() < limit, "\n".join(self.lines)
            self.read()
        return found[0]

    def until_gone(self, pattern):
        limit = time.monotonic() + 60
        while any(re.search(pattern, line) for line in self.lines):
            assert time.monotonic() < limit, "\n".join(self.lines)
            self.read()

    def end(self):
        """Waits until the command has ended, and returns its exit code."""
        limit = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < limit, "\n".join(self.lines)
            self.read()
        while self.read(0):
            pass
        return self.process.returncode

    @property
    def is_restored(self):
        """Whether the terminal has the mode and the screen that it had before the command."""
        last = max(self.sent.rfind(code) for code in (b"\x1b[?1049h", b"\x1b[?1049l"))
        return termios.tcgetattr(self.inner) == self.mode and self.sent[last:].startswith(b"\x1b[?1049l")


@pytest.fixture
def slow(serve):
    return serve({f"/{name}": CONTENT for name in ("one.bin", "two.bin")}, speed=20_000)


def states(backhaul, session="default"):
    return [task["state"] for task in backhaul.json("tasks", "--session", session)]


def test_the_screen_shows_running_waiting_and_failed_transfers_of_all_sessions(backhaul, slow):
    backhaul("add", f"{slow.url}/one.bin")
    backhaul("add", "--session", "photos", "--earliest-start", "+2h", f"{slow.url}/two.bin")
    backhaul("add", "--session", "photos", "--attempts", "1", f"{slow.url}/absent")
    screen = LiveScreen(backhaul)
    screen.until(r"one\.bin .*%.* left$")
    screen.until(r"photos +two\.bin +earliest start until (tomorrow )?\d\d:\d\d")
    screen.until(r"photos +absent +failed: the server responded with status 404$")
    screen.until("^1 running  1 waiting  1 failed", row=1)
    screen.until(r"^backhaul watch  \S.* daemon \d+$", row=0)
    screen.type("q")
    assert screen.end() == 0
    assert screen.is_restored


def test_the_session_option_shows_one_session(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    backhaul("add", "--suspended", "--session", "photos", f"{slow.url}/two.bin")
    screen = LiveScreen(backhaul, "--session", "photos")
    screen.until("two.bin")
    assert not any("one.bin" in line for line in screen.lines)


def test_a_session_that_does_not_exist_is_named_with_those_that_do(backhaul, slow):
    backhaul("add", "--suspended", "--session", "photos", f"{slow.url}/one.bin")
    LiveScreen(backhaul, "--session", "typo").until("^There is no session 'typo'. There are: 'photos'.$")
    lines = backhaul.start("watch", "--session", "typo")
    assert lines.stderr.readline() == "There is no session 'typo'. There are: 'photos'.\n"
    backhaul("add", "--suspended", "--session", "typo", f"{slow.url}/two.bin")
    assert "  typo  2  two.bin  suspended\n" in lines.stdout.readline()


def test_ctrl_w_and_ctrl_u_erase_what_was_typed(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul)
    screen.until("one.bin")
    screen.type("/first second")
    screen.until("words: first second$")
    screen.type("\x17")
    screen.until("words: first$")
    screen.type("\x15one\r")
    screen.until("filter: one( |$)")


def test_the_screen_shows_all_applications_and_keys_change_the_selected_one(backhaul, slow):
    for words in ([], ["--application", "org.example.photos"]):
        backhaul("add", "--suspended", *words, f"{slow.url}/one.bin", "-o", backhaul.here / f"{len(words)}.bin")
    screen = LiveScreen(backhaul, columns=120)
    screen.until(r"NO\. APPLICATION +NAME")
    screen.until(r"^ +1 backhaul +0\.bin")
    screen.until(r"^ +2 org\.example\.photos +2\.bin")
    screen.type("jr")
    screen.until("1 transfer resumed")
    screen.until(r"2\.bin .*left$")
    assert states(backhaul) == ["suspended"]
    screen.type("g\r")
    screen.until(r"^destination: +.*2\.bin")
    screen.type("q")
    screen.until("APPLICATION")
    backhaul("sessions", "remove", "default", "--cancel", "--application", "org.example.photos")
    screen.until_gone("APPLICATION")


def test_the_application_option_shows_one_application(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    backhaul("add", "--suspended", "--application", "org.example.photos", f"{slow.url}/two.bin")
    screen = LiveScreen(backhaul, "--application", "org.example.photos")
    screen.until("two.bin")
    assert not any("one.bin" in line for line in screen.lines)


def test_keys_suspend_resume_and_cancel_the_selected_transfer(backhaul, slow):
    backhaul("add", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul)
    screen.until(r"one\.bin .*%")
    screen.type("s")
    screen.until("1 transfer suspended")
    screen.until(r"one\.bin .*suspended")
    assert states(backhaul) == ["suspended"]
    screen.type("r")
    screen.until(r"one\.bin .*/s ")
    screen.type("cn")
    screen.until("nothing is cancelled")
    assert states(backhaul) == ["running"]
    screen.type("cy")
    screen.until(r"one\.bin .*cancelled")
    assert states(backhaul) == ["cancelled"]


def test_keys_set_the_priority_and_the_rate(backhaul, slow):
    backhaul("add", f"{slow.url}/one.bin", "--suspended")
    screen = LiveScreen(backhaul)
    screen.until(r"one\.bin")
    screen.type("p-7\r")
    screen.until("1 transfer changed")
    screen.type("l2k\r")
    screen.until("1 transfer limited")
    (task,) = backhaul.json("tasks")
    assert (task["priority"], task["rate_limit"]) == (-7, 2048)


def test_a_key_retries_a_waiting_transfer(backhaul, server):
    url = server.serve("/busy", CONTENT, otherwise=Behaviour(status=503))
    backhaul("add", url, "--retry-delay", "600")
    until(lambda: any(task["reason"] == "retry" for task in backhaul.json("tasks")), "the first failure")
    screen = LiveScreen(backhaul)
    screen.until("retry ")
    screen.type("t")
    screen.until("1 transfer tried again")
    until(lambda: backhaul.json("tasks")[0]["attempts"] == 2, "the second attempt")


def test_marked_transfers_are_changed_together(backhaul, slow):
    backhaul("add", f"{slow.url}/one.bin", f"{slow.url}/two.bin")
    screen = LiveScreen(backhaul)
    screen.until(r"two\.bin .*%")
    screen.type("  ")
    screen.until(r"\* *2 two\.bin")
    screen.type("s")
    screen.until("2 transfers suspended")
    assert states(backhaul) == ["suspended", "suspended"]


def test_the_filter_selects_rows(backhaul, slow):
    backhaul("add", f"{slow.url}/one.bin", f"{slow.url}/two.bin", "--suspended")
    screen = LiveScreen(backhaul)
    screen.until(r"two\.bin")
    screen.type("/TWO\r")
    screen.until("filter: TWO")
    screen.until_gone(r"one\.bin")
    screen.type("/\x7f\x7f\x7f\r")
    screen.until(r"one\.bin")


def test_the_details_have_the_explanation_and_what_the_user_can_do(backhaul, slow):
    backhaul("add", f"{slow.url}/one.bin", "--earliest-start", "+2h")
    screen = LiveScreen(backhaul, rows=40)
    screen.until(r"one\.bin")
    screen.type("\r")
    screen.until(r"^url: +http://127")
    screen.until(r"waits for the time at which it is to start")
    screen.until("What you can do:")
    screen.type("q")
    screen.until("NAME")


def test_the_screen_follows_the_size_of_the_terminal(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul)
    screen.until("one.bin")
    screen.resize(120, 40)
    screen.until(r"SIZE")
    screen.until(r"^\? keys", row=39)
    screen.resize(30, 8)
    screen.until_gone("SIZE")
    screen.until("susp")
    screen.resize(5, 2)
    screen.until("^backh$")
    screen.resize(80, 24)
    screen.until("one.bin .*suspended")
    screen.until(r"^\? keys", row=23)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_that_ends_the_command_restores_the_terminal(backhaul, slow, number):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul)
    screen.until("one.bin")
    assert not termios.tcgetattr(screen.inner)[3] & termios.ECHO
    screen.process.send_signal(number)
    assert screen.end() == -number
    assert screen.is_restored


def test_the_command_ends_when_its_terminal_is_gone_although_it_ignores_the_signal(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        screen = LiveScreen(backhaul)
    finally:
        signal.signal(signal.SIGHUP, before)
    screen.until("one.bin")
    os.close(screen.control)
    os.close(screen.inner)
    assert screen.process.wait(60) == 0


def test_after_ctrl_z_the_terminal_belongs_to_the_shell_until_the_command_continues(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul)
    screen.until("one.bin")
    # The default action of SIGTSTP does not stop a process group without a parent in its session.
    screen.process.send_signal(signal.SIGTSTP)
    until(lambda: screen.read() or screen.sent.endswith(b"\x1b[?1049l") or b"\x1b[?1049l" in screen.sent, "the pause")
    screen.process.send_signal(signal.SIGCONT)
    sent = len(screen.sent)
    until(lambda: screen.read() and b"one.bin" in screen.sent[sent:], "the new drawing")
    screen.type("q")
    assert screen.end() == 0
    assert screen.is_restored


def test_names_and_urls_cannot_control_the_terminal(backhaul, slow):
    name = "\x1b]0;owned\x07\u202e文件e\u0301.bin"
    backhaul("add", "--suspended", "-o", backhaul.here / name, f"{slow.url}/one.bin?%1b[2J")
    backhaul("add", "--suspended", f"{slow.url}/plain.bin")
    screen = LiveScreen(backhaul)
    line = screen.until(r"\\u\{1b\}\]0;.*suspended")
    assert screen.screen.title == ""
    # The wide characters of the first name take two columns each.
    places = [line.index("suspended"), screen.until("plain.bin.*suspended").index("suspended")]
    assert places[0] + line.count("文") + line.count("件") >= places[1]
    screen.type("\r")
    screen.until("url:")
    assert b"\x1b]" not in screen.sent and b"\x07" not in screen.sent
    assert "\u202e" not in screen.sent.decode()


@pytest.mark.parametrize("variables, colored", [({}, True), ({"NO_COLOR": "1"}, False), ({"term": "vt100"}, False)])
def test_colors_are_used_if_the_terminal_has_them_and_no_color_is_not_set(backhaul, slow, variables, colored):
    backhaul("add", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul, **variables)
    screen.until("one.bin .*%")
    assert (re.search(rb"\x1b\[[0-9;]*3[1-6]m", screen.sent) is not None) == colored
    assert re.search(rb"\x1b\[[0-9;]*[17][m;]", screen.sent), "bold and reverse do not need colors"


def test_without_utf_8_the_screen_is_ascii(backhaul, slow):
    backhaul("add", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul, LC_ALL="C")
    screen.until(r"one\.bin +#*\.+ +\d+%")
    assert all(byte < 0x80 for byte in screen.sent)


def test_an_unknown_terminal_gets_lines(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul, term="no-such-terminal")
    screen.until("does not have the terminal 'no-such-terminal' of")
    screen.until(r"\d\d:\d\d:\d\d  backhaul  default  1  one\.bin  suspended")
    assert b"\x1b" not in screen.sent


def test_in_a_pipe_each_change_is_a_line(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    process = backhaul.start("watch")
    assert re.fullmatch(r"\d\d:\d\d:\d\d  backhaul  default  1  one\.bin  suspended\n", process.stdout.readline())
    backhaul("cancel", "1")
    assert re.fullmatch(r"\d\d:\d\d:\d\d  backhaul  default  1  one\.bin  cancelled\n", process.stdout.readline())
    process.stdout.close()
    assert process.wait(60) == 0
    named = backhaul.start("watch", "--application", "org.example.photos")
    backhaul("add", "--suspended", "--application", "org.example.photos", f"{slow.url}/two.bin")
    assert re.fullmatch(r"\d\d:\d\d:\d\d  default  2  two\.bin  suspended\n", named.stdout.readline())


def test_in_a_pipe_a_transfer_that_ends_between_two_readings_is_a_line(backhaul, serve):
    server = serve({"/one.bin": b"x"})
    backhaul("add", "--suspended", f"{server.url}/other.bin")
    process = backhaul.start("watch")
    assert process.stdout.readline().endswith("  other.bin  suspended\n")
    backhaul("add", f"{server.url}/one.bin")
    while not process.stdout.readline().endswith("  one.bin  succeeded\n"):
        assert process.poll() is None


def test_with_json_each_change_is_a_document_and_an_acknowledged_end_is_not_missed(backhaul, serve):
    server = serve({"/one.bin": CONTENT}, speed=500_000)
    backhaul("limits", "set", "--connections", "9")
    process = backhaul.start("watch", "--json")
    backhaul("add", "--suspended", "--session", "other", f"{server.url}/one.bin", "-o", "other.bin")
    assert json.loads(process.stdout.readline())["session"] == "other"
    backhaul("get", f"{server.url}/one.bin", "--session", "photos")
    changes = [json.loads(process.stdout.readline())]
    while changes[-1]["task"]["state"] != "succeeded":
        changes.append(json.loads(process.stdout.readline()))
    assert {(change["application"], change["session"]) for change in changes} == {("backhaul", "photos")}
    assert all(change["time_ms"] > 1_700_000_000_000 for change in changes)


def test_a_new_transfer_appears_and_a_removed_session_disappears(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul)
    screen.until("one.bin")
    backhaul("add", "--suspended", "--session", "photos", f"{slow.url}/two.bin")
    screen.until("photos +two.bin")
    backhaul("sessions", "remove", "photos", "--cancel")
    screen.until_gone("two.bin")


def test_a_long_list_is_counted_and_its_end_follows_changes_of_other_commands(backhaul, slow):
    urls = "".join(f"{slow.url}/{number}.bin\n" for number in range(1, 3001))
    backhaul("add", "--suspended", "--input", "-", stdin=urls)
    screen = LiveScreen(backhaul)
    screen.until("^0 running  0 waiting  3000 suspended")
    screen.type("G")
    screen.until(r"^ *3000 3000\.bin +suspended$")
    backhaul("cancel", "2999")
    screen.until("2999 suspended  0 failed  1 cancelled")
    screen.type("G")
    screen.until(r"^ *2999 2999\.bin +cancelled$")


def test_the_table_of_keys_in_the_documentation_is_that_of_the_screen(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/one.bin")
    screen = LiveScreen(backhaul, columns=160, rows=40)
    screen.until("one.bin")
    screen.type("?")
    screen.until("any key")
    shown = [tuple(re.split(r"  +", line.strip(), maxsplit=1)) for line in screen.lines[2:-1] if line]
    text = (PROJECT / "docs" / "watch.md").read_text()
    table = re.search(r"\| key \| what it does \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", text)[1]
    written = [tuple(cell.strip().replace("`", "") for cell in row.strip("|").split("|")) for row in table.splitlines()]
    assert written == shown
