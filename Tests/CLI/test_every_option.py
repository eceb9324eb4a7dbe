"""Each option of each command: an option of `get`, `put` or `add` does not change the settings of the session, and each
setting can be reset. The options come from the help of the commands, so a new option is tested without a change here.
"""

import re
import subprocess

import pytest

from command_line import COMMAND

pytestmark = pytest.mark.hosting("daemon")

URL = "http://127.0.0.1:9/never"
#: The columns of an option before its description.
SYNOPSIS = re.compile(r"^  (?:-., |    )--(?P<name>[\w.-]+)(?: (?P<argument>'[^']*'|\S+))?", re.MULTILINE)
COMMON = {"store", "session", "application", "embedded", "daemon", "json", "quiet", "no-config", "help"}

#: Values for the words with which the help describes the argument of an option.
VALUES = {
    "NUMBER": ["3"], "SECONDS": ["7"], "PERCENT": ["30"], "BYTES": ["700k"], "URL": ["http://127.0.0.1:9"],
    "FILE": ["/dev/null"], "TIME": ["+2h"], "NAME": ["some"], "'NAME: VALUE'": ["A: b"], "DAY": ["7"],
    "HOURS": ["22:00-06:30"], "METHOD": ["POST"], "USER[:PASSWORD]": ["ann:secret"], "REGION": ["eu-central-1"],
    "COMMAND": ["cat keys.json"],
}
#: Values of options for which the word is not enough.
OWN_VALUES = {
    "retry-errors": ["name,lost", "none"], "retry-status": ["503"], "accept-status": ["200,404"],
    "accept-type": ["image/*"],
    "noproxy": ["localhost"], "tolerate": ["early-response"], "networks": ["wifi,ethernet"],
    "pinnedpubkey": ["sha256//" + "A" * 43 + "="], "max-redirs": ["0", "3"], "retry": ["0", "3"],
    "history-limit": ["0", "3"], "cacert": ["ca.pem"], "ca-file": ["ca.pem"], "cert": ["c.pem"], "key": ["k.pem"],
    "proxy-password-file": ["body"], "header-file": ["headers"],
    "directory": ["."], "checksums": ["SHA256SUMS"],
    "checksum": ["sha-256:" + "0" * 64], "data-binary": ["x"], "form": ["a=b"],
    "input": ["/dev/null"], "reset": ["proxy", "all"], "every": ["48h"], "tolerance": ["1h"],
    "range": ["0-499", "5-"], "after": ["1"], "url-from": ["header:Location"], "header-from": ["A: json:/a"],
    "body-from": ["body"], "priority": ["3", "now"], "password-file": ["body"], "metered": ["yes", "no", "auto"],
}
#: Options that need another option, with that option.
NEEDED = {
    "proxy-user": ["--proxy", "http://127.0.0.1:9"],
    "proxy-password-file": ["--proxy", "http://127.0.0.1:9", "--proxy-user", "ann"],
    "key": ["--cert", "c.pem"], "expires-in": ["--refresh", "url"], "suspended": [], "password-file": ["--user", "ann"],
    "after-failure": ["--after", "1"], "url-from": ["--after", "1"], "header-from": ["--after", "1"],
    "body-from": ["--after", "1"],
}


def options(command):
    """The options of a command as the pairs of name and argument. The argument is None for an option without one."""
    text = subprocess.run([COMMAND, command, "--help"], capture_output=True, text=True, check=True).stdout
    found = [(match["name"], match["argument"]) for match in SYNOPSIS.finditer(text)]
    return [(name, argument) for name, argument in found if name not in COMMON]


def values(name, argument):
    if argument is None:
        return [None]
    if name in OWN_VALUES:
        return OWN_VALUES[name]
    if argument in VALUES:
        return VALUES[argument]
    words = argument.split("|")
    assert len(words) > 1, f"add a value of --{name} {argument} to this test"
    return [VALUES.get(word, [word])[0] for word in words]


def given(name, argument):
    """Yields the words of the command line that give the option."""
    for value in values(name, argument):
        yield [f"--{name}", *([] if value is None else [value])]


def run(backhaul, *words):
    return subprocess.run(backhaul.arguments(*words), cwd=backhaul.here, env=backhaul.environment, capture_output=True,
                          text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)


def settings(backhaul):
    return backhaul.json("configure")


@pytest.fixture
def files(backhaul):
    for file in ("ca.pem", "c.pem", "k.pem", "body"):
        backhaul.here.joinpath(file).write_text("secret word")
        backhaul.here.joinpath(file).chmod(0o600)
    backhaul.here.joinpath("headers").write_text("A: b\n")
    backhaul.here.joinpath("SHA256SUMS").write_text("0" * 64 + "  never\n")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("command", "exists"), [
    ("get", True), ("get", False), ("add", True), ("put", True), ("activities", True)])
def test_no_option_of_a_command_for_transfers_changes_the_settings_of_the_session(backhaul, command, exists):
    (new,) = backhaul.json("configure", "--session", "new", "--credentials", "ask")
    possible = [[{**new, "identifier": "default"}], []]
    if exists:
        backhaul("configure", "--parallel-max", "5", "--proxy", "none", "--attempts", "9", "--accept-status", "200")
        possible = [settings(backhaul)]
    before, after = {
        "get": (["--timeout", "0"], []), "add": (["--suspended"], []), "put": (["--no-wait"], ["body"]),
        "activities": (["--every", "24h"], ["set", "x"])}[command]
    # The command refuses some options of `configure`, which its help does not list.
    # The values of one option are in different groups, because a later value may undo the change of an earlier one.
    every = [(name, option) for _, name, option in sorted(
        (number, name, option)
        for name, argument in {**dict(options("configure")), **dict(options(command))}.items()
        for number, option in enumerate(given(name, argument)))]
    for start in range(0, len(every), 10):
        for name, option in every[start:start + 10]:
            words = [command, *before, *NEEDED.get(name, []), *option, *after]
            assert run(backhaul, *words, "ftp://127.0.0.1:9/never").returncode != 0, option
            run(backhaul, *words, URL)
        assert settings(backhaul) in possible, every[start:start + 10]


@pytest.mark.usefixtures("files")
def test_a_refused_command_leaves_no_session(backhaul):
    backhaul("limits")
    own = dict(options("get")).keys() & dict(options("configure")).keys() - dict(options("constrain")).keys()
    for name in own:
        for option in given(name, dict(options("get"))[name]):
            backhaul("get", *NEEDED.get(name, []), *option, "ftp://127.0.0.1:9/never", code=2)
    assert backhaul.json("sessions") == []


def resets(name, argument, empty):
    """The words of the command line that reset an option to its default."""
    return [f"--{name}", empty] if argument is not None else ["--reset", name]


@pytest.mark.usefixtures("files")
def test_each_setting_of_a_session_can_be_reset(backhaul):
    backhaul("configure", "--credentials", "ask")
    start = settings(backhaul)
    without_effect = set()
    for name, argument in options("configure"):
        if name in ("reset", "no-headers"):
            continue
        needed = NEEDED.get(name, [])
        changes = False
        tried, ways = list(given(name, argument)), (resets(name, argument, ""), ["--reset", name])
        for number in range(max(len(tried), len(ways))):
            option, reset = tried[number % len(tried)], ways[number % len(ways)]
            backhaul("configure", *needed)
            with_needed = settings(backhaul) if needed else start
            backhaul("configure", *needed, *option)
            changes = changes or settings(backhaul) != with_needed
            backhaul("configure", *reset)
            others = [word.removeprefix("--") for word in needed[::2]]
            if others:
                backhaul("configure", "--reset", ",".join(others))
            assert settings(backhaul) == start, (option, reset)
        if not changes:
            without_effect.add(name)
    # A password is never shown, and TLS 1.2 is the default.
    assert without_effect == {"proxy-password-file", "tlsv1.2"}


@pytest.mark.usefixtures("files")
def test_all_settings_of_a_session_can_be_reset_together(backhaul):
    backhaul("configure", "--credentials", "ask")
    start = settings(backhaul)
    backhaul("configure", "--proxy", "none", "--http2", "--max-redirs", "0", "--credentials", "fail", "-H", "A: b")
    backhaul("configure", "--reset", "all")
    assert settings(backhaul) == start
    backhaul("configure", "--proxy", "none")
    backhaul("configure", "--reset", "all", "--http2")
    assert settings(backhaul) == [{**start[0], "rules": {**start[0]["rules"], "http_version": "http2"}}]
    assert "not 'speed'" in backhaul("configure", "--reset", "speed", code=2).stderr


@pytest.mark.parametrize("zero", ["", "0"])
def test_zero_and_an_empty_value_reset_a_limit_of_a_session(backhaul, zero):
    backhaul("configure", "--credentials", "ask")
    start = settings(backhaul)
    for name in ("attempts", "retry-delay", "retry-max-delay", "request-timeout", "max-time", "max-filesize",
                 "limit-rate", "connections", "parallel-max", "slow-after", "slow-pause", "minimum-rate"):
        backhaul("configure", f"--{name}", "70")
        assert settings(backhaul) != start, name
        backhaul("configure", f"--{name}", zero)
        assert settings(backhaul) == start, name


@pytest.mark.parametrize("empty", ["", "0"])
def test_each_limit_of_the_store_can_be_reset(backhaul, empty):
    start = backhaul.json("limits")
    for name, argument in options("limits"):
        for option in given(name, argument):
            assert backhaul.json("limits", "set", *option) != start, option
            assert backhaul.json("limits", "set", *resets(name, argument, empty)) == start, option


def test_each_setting_of_a_network_can_be_reset(backhaul):
    start = backhaul.json("networks", "some", "--month-starts-on", "1")
    for name, argument in options("networks"):
        if name == "forget":
            continue
        for option in given(name, argument):
            changed = backhaul.json("networks", "some", *option)
            assert changed != start or option[1] in ("auto", "none"), option
            assert settings_of(backhaul.json("networks", "some", f"--{name}", "")) == settings_of(start), option


def settings_of(networks):
    """The members of networks that do not depend on the time."""
    return [{name: network[name] for name in ("metered", "month_starts_on", "budget")} for network in networks]


def test_each_constraint_and_start_of_a_transfer_can_be_reset(backhaul):
    backhaul("add", "--suspended", URL)
    (task,) = backhaul.json("tasks")
    backhaul("constrain", task["id"], "--none")
    (start,) = backhaul.json("tasks")
    selection = {"all", "group", "none"}
    presets = {"discretionary", "overnight"}
    for command in ("constrain", "reschedule"):
        for name, argument in options(command):
            for option in given(name, argument) if name not in selection else []:
                backhaul(command, task["id"], *option)
                changed = backhaul.json("tasks") != [start]
                assert changed or option[1] in ("none", "now"), option
                backhaul(command, task["id"], "--preset" if name in presets else f"--{name}", "")
                assert backhaul.json("tasks") == [start], option
