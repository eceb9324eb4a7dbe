"""Each message about a wrong option, file, URL or operand uses the words of the command line. The tests take the
options from the help of the commands, so they cover new options, too."""

import itertools
import os
import queue
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from command_line import COMMAND
from schema import header

WRONG = ["", "x", "-1", "0", "99999999999999999999", "a,b", "/absent/file", "/", "é" * 3_000, "\x01", b"\xff",
         "http://ann@[::1/"]
URL = "http://127.0.0.1:9/never"
#: The operands with which a command is otherwise right.
OPERANDS = {
    "URL...": [URL], "[FILE...] URL": ["/etc/hostname", URL], "TASK FILE": ["1", "file"], "CHALLENGE": ["1"],
    "TASK...": ["1"], "TASK... | --group NAME | --all": ["--all"], "NUMBER|now TASK...": ["1", "1"],
    "BYTES TASK...": ["1", "1"], "PROGRAM [ARGUMENT...]": ["/bin/true"],
}
#: More words of commands that would otherwise do something else than they should here.
ALSO = {
    "add": ["--suspended"], "put": ["--no-wait", "--suspended"], "get": ["--timeout", "0"],
    "wait": ["--timeout", "0"], "limits": ["set"], "activities": ["set", "name", URL, "--every", "1h"],
    "networks": ["name"],
}
#: Commands that wait for input at a terminal, or change the machine.
LEFT_OUT = {"service"}
#: Options that every command has. Some of them choose another store.
COMMON = {"store", "session", "application", "embedded", "daemon", "json", "quiet", "help"}


def run(store, *words):
    environment = {"PATH": os.environ["PATH"], "HOME": str(store), "LC_ALL": "C.UTF-8"}
    return subprocess.run([COMMAND, "--store", str(store / "store"), "--embedded", *words], env=environment, cwd=store,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=300, check=False)


def help_of(*words):
    return subprocess.run([COMMAND, *words, "--help"], capture_output=True, text=True, timeout=300, check=True).stdout


def commands():
    """Maps each command to its operands in the help, and to its options that take a value."""
    names = re.findall(r"^  ([a-z]+)  ", help_of().split("Commands:")[1].split("Options")[0], flags=re.M)
    for name in names:
        text = help_of(name)
        operands = re.search(rf"^Usage: backhaul {name} \[OPTION\.\.\.\] ?(.*)$", text, flags=re.M)[1]
        options = re.findall(r"^  (?:-\w, |    )--([\w.-]+) (\S+)", text, flags=re.M)
        yield name, operands, [option for option, _ in options if option not in COMMON]


@pytest.fixture(scope="module")
def names():
    """Matches names of the C API: constants, and fields that are no plain words."""
    read = header.read()
    fields = {field.name for struct in read.structs for field in struct.fields}
    options = {option.replace("-", "_") for _, _, found in commands() for option in found}
    hidden = sorted(name for name in fields - options if "_" in name)
    plain = sorted(name for name in fields if "_" not in name)
    return re.compile(
        # The error of a transfer ends with its status in parentheses.
        rf"(?<!\()\bBH_\w+|\bNULL\b|(?<![\w/.-])(?:\w+\.)?(?:{'|'.join(hidden)})\b"
        # A field that is the subject of a message, such as "url is an empty string".
        rf"|(?:^|: )(?:{'|'.join(plain)}) (?:is|has)\b")


def outputs(cases, folder):
    """Runs the commands, some at a time, and yields the words and what the command has written to stderr."""
    stores = queue.SimpleQueue()
    for number in range(4):
        store = folder / str(number)
        store.mkdir()
        run(store, "add", "--suspended", URL)
        stores.put(store)

    def one(words):
        store = stores.get()
        try:
            ended = run(store, *words)
            return words, ended.returncode, ended.stderr.decode("utf-8", "replace")
        finally:
            stores.put(store)

    with ThreadPoolExecutor(4) as pool:
        yield from pool.map(one, cases)


def option_cases():
    seen = set()
    for name, operands, options in commands():
        if name in LEFT_OUT:
            continue
        # `configure` gives its options to a session, and the other commands give theirs to a transfer.
        group = name if name in ("configure", "constrain", "activities", "put") else "transfer"
        for option in options:
            if (group, option) in seen:
                continue
            seen.add((group, option))
            base = [name, *ALSO.get(name, []), *([] if name in ("activities",) else OPERANDS.get(operands, []))]
            # Each option gets a fourth of the wrong values, and the next option gets the next fourth.
            for value in WRONG[len(seen) % 4::4]:
                yield [*base, f"--{option}", value]


def operand_cases():
    for name, operands, _ in commands():
        right = OPERANDS.get(operands, [])
        for position, value in itertools.product(range(len(right)), WRONG):
            if right[position].startswith("--") or name in LEFT_OUT:
                continue
            yield [name, *ALSO.get(name, []), "--", *right[:position], value, *right[position + 1:]]


COMBINATIONS = [
    ["get", "--timeout", "0", "--size", "2", "--max-filesize", "1", URL],
    ["add", "--accept-status", "500", "--retry-status", "500", URL],
    ["add", "--latest-start", "2030-01-01", "--earliest-start", "2031-01-01", URL],
    ["add", "--retry-errors", "none", "--retry", "3", URL], ["add", "--if-exists", "skip", URL],
    ["configure", "--retry-errors", "none", "--attempts", "4"], ["add", "--quiet-hours", "00:00-24:00", URL],
    ["add", "-z", "-J", URL], ["add", "--data-binary", "a", "--checksum", "0" * 64, URL],
    ["put", "-F", "a=b", "-H", "Content-Type: a", URL],
    ["add", "--http2", "--redirects", "none", "--max-redirs", "3", URL],
    ["add", "-X", "GET", "--data-binary", "a", URL], ["add", "-X", "HEAD", URL], ["add", "-X", "CONNECT", URL],
    ["add", "-H", "Range: bytes=1-", URL], ["add", "-H", "Host: a", "-H", "Host: b", URL], ["add", "-H", ": b", URL],
    ["add", "--refresh", "url", "--expires-in", "0.001", URL], ["add", "--body-source", "consume", URL],
    ["add", f"{URL}?a", f"{URL}?b"], ["add", "-o", "/absent/file", URL], ["add", "-d", "/absent", URL],
    ["add", "-o", "/etc/hostname", URL], ["add", "-o", "/", URL], ["add", "-o", "f/..", URL],
    ["add", "-o", "/proc/self/status", URL], ["add", "-o", "x" * 300, URL], ["add", "-o", "x" * 250, URL],
    ["add", "-o", "/" + "x/" * 3_000, URL],
    ["put", "/etc", URL], ["put", "-F", "a=@/absent", URL], ["put", "-F", "a=@/etc", URL],
    ["put", "--body-source", "consume", "/etc/hostname", "--data-binary", "x", URL],
    ["configure", "--proxy", "ftp://a"], ["configure", "--proxy", "http://ann:secret@a"],
    ["configure", "--cacert", "/etc"], ["configure", "--cert", "/absent"], ["configure", "--key", "/absent"],
    ["configure", "--retry-delay", "5", "--retry-max-delay", "1"], ["configure", "--redirects", "none"],
    ["get", "--session", "", URL], ["get", "--session", "x" * 300, URL], ["get", "--session", "a b", URL],
    ["get", "--session", "a/b", URL], ["tasks", "--session", "absent"], ["wait", "--session", "absent"], ["info", "77"],
    ["attempts", "77"], ["why", "77"],
    ["cancel", "77"], ["suspend", "77"], ["resume", "77"], ["priority", "1", "77"], ["rate", "1", "77"],
    ["constrain", "77", "--none"], ["reschedule", "77", "--earliest-start", "now"], ["claim", "77", "f"],
    ["claim", "1", "/absent/f"], ["events", "--acknowledge-through", "77"], ["respond", "77", "--refuse"],
    ["activities", "remove", "absent"], ["activities", "set", "a", "--every", "1s"],
    ["activities", "set", "a", "--every", "1h", "--tolerance", "2h"], ["activities", "set", "", "--every", "1h"],
    ["activities", "set", "a", "--every", "1h", "--if-exists", "fail", URL], ["activities", "set", "a"],
    ["networks", "x", "--month-starts-on", "31"], ["register", "absent"], ["register", "/absent"], ["register", "/etc"],
    ["register", "-e", "A=b", "-e", "BACKHAUL_LAUNCH=1", "/bin/true"], ["unregister"],
    ["get", "--application", "a b", URL], ["get", "--application", "", URL], ["tasks", "--application", "absent"],
]


def wrong(found, names):
    """The messages that have a name of the C API, with the words of their commands."""
    return [f"{' '.join(map(repr, words))}: {message[:400]}" for words, _, message in found if names.search(message)]


@pytest.mark.parametrize("cases", [option_cases, operand_cases, lambda: COMBINATIONS],
                         ids=["option", "operand", "combination"])
def test_no_message_about_a_wrong_word_has_a_name_of_the_c_api(tmp_path, names, cases):
    cases = [list(words) for words in cases()]
    assert len(cases) >= len(COMBINATIONS)
    found = list(outputs(cases, tmp_path))
    assert not wrong(found, names)
    assert not [words for words, code, _ in found if code not in (0, 1, 2, 3, 4, 5, 6)]
    # Each refusal has a reason.
    assert not [words for words, code, message in found if code in (2, 3, 4) and not message.strip()]
