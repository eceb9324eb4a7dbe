"""Completions: what `backhaul complete-words` offers, and what bash, zsh and fish show of it."""

import os
import pty
import re
import select
import signal
import subprocess
import time

import pytest

from command_line import COMMAND, PROJECT, until
from daemons import daemons_of

pytestmark = pytest.mark.hosting("daemon")

SCRIPTS = PROJECT / "packaging" / "completions"
URL = "http://127.0.0.1:9/never"


def completed(*words, **options):
    """Runs the hidden command. Returns how the shell completes paths, and the candidates with their descriptions."""
    options = {"env": {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, **options}
    ended = subprocess.run([COMMAND, "complete-words", *map(str, words)], capture_output=True, text=True, timeout=60,
                           check=False, **options)
    assert (ended.returncode, ended.stderr) == (0, "")
    first, *lines = ended.stdout.splitlines()
    return tuple(first.split("\t")), dict((line + "\t").split("\t")[:2] for line in lines)


def candidates(*words, **options):
    return list(completed(*words, **options)[1])


@pytest.mark.parametrize(("words", "expected"), [
    (["serv"], ["service"]),
    (["service", ""], ["install", "status", "uninstall"]),
    (["activities", "remo"], ["remove"]),
    (["get", "--if-ex"], ["--if-exists"]),
    (["get", "--if-exists", ""], ["fail", "replace", "skip"]),
    (["get", "--if-exists=re"], ["--if-exists=replace"]),
    (["tasks", "--state", "running,wai"], ["running,waiting"]),
    (["configure", "--reset", "http2,http1"], ["http2,http1.1"]),
    (["priority", ""], ["now"]),
    (["help", "activ"], ["activities"]),
    (["--vers"], ["--version"]),
    (["--store", "/absent", "serv"], ["service"]),
    (["get", "-o", "file", "--remote-h"], ["--remote-header-name"]),
    (["get", "--", "--out"], []),
    (["register", "/bin/true", "--env"], []),
    (["absent", ""], []),
    (["get", "--absent", "--outp"], ["--output"]),
], ids=" ".join)
def test_words_are_completed_from_the_table_of_options(words, expected):
    assert candidates(*words) == expected


@pytest.mark.parametrize(("words", "paths"), [
    (["get", "-o", ""], ("files", "")),
    (["get", "-d", "a"], ("directories", "")),
    (["get", "--directory=a"], ("directories", "--directory=")),
    (["get", "-oa"], ("files", "-o")),
    (["put", ""], ("files", "")),
    (["put", "-F", "photo=@1"], ("files", "photo=@")),
    (["put", "--data-binary", "@a"], ("files", "@")),
    (["put", "--data-binary", "a"], ("words", "")),
    (["get", ""], ("words", "")),
    (["claim", "1", ""], ("files", "")),
], ids=lambda value: " ".join(value))
def test_the_shell_completes_paths_where_a_path_is_expected(words, paths):
    assert completed(*words)[0] == paths


def test_options_that_a_command_refuses_are_not_offered():
    assert not {"--daily-budget", "--history-limit"} & set(candidates("get", "--"))


@pytest.fixture
def filled(backhaul):
    """A store with two transfers in a group, a session, and an application with a registered program. A transfer that
    waits for its next attempt keeps the engine running, because a completion starts no engine."""
    backhaul("add", "--suspended", "--group", "photos", f"{URL}/1", f"{URL}/2")
    backhaul("add", "--suspended", "--session", "other", f"{URL}/3")
    backhaul("register", "--application", "org.example.photos", "/bin/true")
    backhaul("add", "--session", "waiting", "--retry-delay", "600", f"{URL}/4")
    return backhaul


def offered(expected, *words):
    """Waits until the words have these candidates. If the machine is busy, the engine does not always reply in time."""
    until(lambda: completed(*words)[1] == expected, f"candidates {expected} for {words}")


def test_names_and_numbers_come_from_the_running_engine_of_the_chosen_store(filled):
    chosen = ["--store", filled.store]
    offered({"1": f"suspended {URL}/1", "2": f"suspended {URL}/2"}, *chosen, "info", "")
    offered({"2": f"suspended {URL}/2"}, *chosen, "info", "1", "")
    offered({"other": "1 transfer"}, *chosen, "tasks", "--session", "ot")
    offered({"3": f"suspended {URL}/3"}, *chosen, "info", "--session", "other", "")
    offered({"photos": ""}, *chosen, "cancel", "--group", "")
    offered({"--application=org.example.photos": "0 transfers"}, *chosen, "launches", "--application=org")


def test_an_application_without_transfers_has_no_numbers(filled):
    assert candidates("--store", filled.store, "--application", "org.example.photos", "info", "") == []


def test_a_completion_obeys_the_configuration_file(filled, tmp_path):
    file = tmp_path / "config"
    file.write_text(f"[*]\nsession = other\nstore = {filled.store}\n")
    variables = {"BACKHAUL_CONFIG": str(file)}
    until(lambda: candidates("info", "", env=variables) == ["3"], "the candidate of the session in the file")
    file.write_text("[*]\nwrong\n")
    assert candidates("info", "", env=variables) == []


def test_a_completion_starts_no_engine_and_creates_no_store(tmp_path):
    store = tmp_path / "store"
    assert candidates("--store", store, "info", "") == []
    assert candidates("info", "", env={"HOME": str(tmp_path)}) == []
    assert os.listdir(tmp_path) == []
    assert daemons_of(tmp_path) == []


def test_a_completion_offers_nothing_if_the_engine_does_not_reply(filled):
    (daemon,) = daemons_of(filled.folder)
    os.kill(daemon, signal.SIGSTOP)
    try:
        assert completed("--store", filled.store, "info", "") == (("words", ""), {})
    finally:
        os.kill(daemon, signal.SIGCONT)


# MARK: The shells

def environment(**variables):
    """The environment of a shell that finds `backhaul`, and no start-up files of a user."""
    path = os.pathsep.join([os.path.dirname(COMMAND), os.environ["PATH"]])
    return {"PATH": path, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TERM": "dumb", "INPUTRC": "/dev/null",
            "XDG_CONFIG_HOME": "/nonexistent", "XDG_DATA_HOME": "/nonexistent", **variables}


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, folder, *words):
        self.control, inner = pty.openpty()
        self.process = subprocess.Popen(words, cwd=folder, env=environment(HOME=str(folder)), stdin=inner, stdout=inner,
                                        stderr=inner, start_new_session=True)
        os.close(inner)
        self.seen = ""

    def type(self, text, expected):
        """Types a text, and reads the output until it has the expected text."""
        self.seen = ""
        os.write(self.control, text.encode())
        limit = time.monotonic() + 120
        while not re.search(expected, self.shown()):
            assert time.monotonic() < limit and self.process.poll() is None, self.seen
            if select.select([self.control], [], [], 1)[0]:
                self.seen += os.read(self.control, 65536).decode(errors="replace")

    def shown(self):
        """The output without control characters. A backspace removes the character before it."""
        text = []
        for character in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\a]", "", self.seen):
            text = text[:-1] if character == "\b" else [*text, character]
        return "".join(text)

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.control)


@pytest.fixture
def shell(tmp_path):
    shells = []

    def start(*words):
        shells.append(Shell(tmp_path, *words))
        return shells[-1]

    yield start
    for one in shells:
        one.end()


BASH = ["bash", "--norc", "--noprofile"]


def bash(folder, line, *before):
    """The candidates of bash for a line, from the function that `complete` has registered."""
    script = f"""
        source {SCRIPTS}/backhaul.bash
        {chr(10).join(before)}
        COMP_LINE=$1 COMP_POINT=${{#1}} COMP_TYPE=37
        # readline splits the line at these characters.
        mapfile -t COMP_WORDS < <(sed -E 's/[=:@]/\\n&\\n/g; s/ /\\n/g' <<<"$1" | sed -E '/^$/{{$!d}}')
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        function=$(complete -p backhaul) && function=${{function#*-F }} && function=${{function%% *}}
        $function
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    ended = subprocess.run([*BASH, "-c", script, "bash", line], cwd=folder, env=environment(), capture_output=True,
                           text=True, timeout=60, check=True)
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.mark.parametrize(("line", "expected"), [
    ("backhaul serv", ["service"]),
    ("backhaul get --if-exists ", ["fail", "replace", "skip"]),
    ("backhaul get --if-exists=re", ["replace"]),
    ("backhaul activities set news https://a/b --qual", ["--quality"]),
    ("backhaul get -o fi", ["file"]),
    ("backhaul get -d ", ["folder"]),
    ("backhaul put -F photo=@fi", ["@file"]),
    ("backhaul absent ", []),
])
def test_bash_shows_the_candidates(tmp_path, line, expected):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    assert bash(tmp_path, line) == expected


def test_bash_completes_commands_and_files_on_a_terminal(shell, tmp_path):
    (tmp_path / "some file").touch()
    one = shell(*BASH, "-i")
    one.type(f"source {SCRIPTS}/backhaul.bash; PS1=ready'>'\n", "ready>$")
    one.type("backhaul serv\t", "backhaul service $")
    one.type("inst\t", "install $")
    one.type("\x15backhaul get --output=so\t", r"--output=some\\ file $")
    one.type("\x15backhaul put -F photo=@some\\ f\t", r"photo=@some\\ file $")


def test_bash_completes_a_command_with_the_library_bash_completion(shell):
    one = shell(*BASH, "-i")
    one.type(f"source /usr/share/bash-completion/bash_completion; source {SCRIPTS}/backhaul.bash; PS1=ready'>'\n",
             "ready>$")
    one.type("backhaul get --if-exists=re\t", "--if-exists=replace $")


def test_zsh_completes_commands_values_and_files_on_a_terminal(shell, tmp_path):
    (tmp_path / "some file").touch()
    one = shell("zsh", "-f", "-i")
    one.type(f"fpath=({SCRIPTS} $fpath); autoload -U compinit; compinit -u -D; unsetopt zle_bracketed_paste; "
             "PS1=ready'>'\n", "ready>$")
    one.type("backhaul serv\t", "backhaul service $")
    one.type("inst\t", "install $")
    one.type("\x15backhaul get --if-exists=re\t", "--if-exists=replace $")
    one.type("\x15backhaul get -o so\t", r"some\\ file $")
    one.type("\x15backhaul absent \tx", "absent x$")
    one.type("\x15backhaul get --check\t", "--checksum")


@pytest.mark.parametrize(("line", "expected"), [
    ("backhaul serv", ["service"]),
    ("backhaul get --if-exists ", ["fail", "replace", "skip"]),
    ("backhaul get --if-exists=re", ["--if-exists=replace"]),
    ("backhaul get -o fi", ["file"]),
    ("backhaul get -d ", ["folder/"]),
    ("backhaul put -F photo=@fi", ["photo=@file"]),
    ("backhaul absent ", []),
])
def test_fish_shows_the_candidates(tmp_path, line, expected):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    ended = subprocess.run(["fish", "--no-config", "-c", f"source {SCRIPTS}/backhaul.fish; complete -C $argv", line],
                           cwd=tmp_path, env=environment(HOME=str(tmp_path)), capture_output=True, text=True,
                           timeout=60, check=True)
    assert ended.stderr == ""
    assert [candidate.split("\t")[0] for candidate in ended.stdout.splitlines()] == expected
