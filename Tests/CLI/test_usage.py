"""Exit codes, help, and invalid command lines."""

import fcntl
import json
import os
import re
import signal
import subprocess
import termios
import time

import pytest

from command_line import COMMAND, PROJECT
from daemons import end_daemons

COMMANDS = ["get", "put", "add", "wait", "watch", "tasks", "why", "info", "attempts", "history", "report", "events",
            "sessions", "applications", "configure", "conditions", "networks", "activities", "limits", "metrics",
            "cancel", "suspend", "resume", "priority", "rate", "constrain", "reschedule", "claim", "challenges",
            "respond", "launches", "register", "unregister", "complete", "service", "desktop", "doctor",
            "fleet", "worker"]


def run(*words, **variables):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **variables}
    return subprocess.run([COMMAND, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("words", [
    [], ["fetch"], ["--absent"], ["get"], ["get", "--absent"], ["get", "-o", "f", "http://a/1", "http://a/2"],
    ["get", "-o", "-", "http://a/1"], ["get", "--if-exists", "skip", "http://a/1"], ["get", "-H", "none", "http://a/1"],
    ["get", "--priority", "high", "http://a/1"], ["get", "--timeout", "-1", "http://a/1"], ["get", "--output"],
    ["get", "-i", "/absent", "http://a/1"], ["wait", "now"], ["tasks", "--state", "lost"],
    ["tasks", "1"], ["sessions", "remove"], ["sessions", "--cancel"],
    ["info"], ["info", "one"], ["info", "0"], ["cancel"], ["cancel", "1", "--all"], ["claim", "1"],
    ["claim", "one", "file"], ["events", "--after", "x"], ["events", "--acknowledge-through", "x"],
    ["events", "-a", "--acknowledge-through", "1"], ["sessions", "x"], ["applications", "x"], ["help", "absent"],
    ["get", "--credentials", "maybe", "http://a/1"], ["tasks", "--embedded", "--daemon", "/usr/bin/true"],
    ["challenges", "1"], ["respond"], ["respond", "1"], ["respond", "one", "--refuse"], ["launches", "x"],
    ["respond", "1", "--refuse", "--user", "ann"], ["respond", "1", "--password-file", "/dev/null"],
    ["respond", "1", "--header", "none"], ["respond", "1", "--user", "ann", "--password-file", "/absent"],
    ["register"], ["register", "photos"], ["register", "-e", "A", "/bin/true"],
    ["register", "--first-delay", "x", "/a"],
    ["unregister", "x"], ["complete", "x"], ["configure", "x"], ["configure", "--cookie-jar", "file"],
    ["configure", "--proxy-password-file", "/absent"], ["configure", "--no-headers", "-H", "A: b"],
    ["configure", "--tolerate", "early-response,all"], ["configure", "--tolerate"],
    ["configure", "--retry-errors", "all"], ["configure", "--http1.1", "--http2"], ["configure", "--max-redirs", "101"],
    ["fleet", "x"], ["fleet", "drain"], ["fleet", "init", "x"], ["fleet", "init"], ["fleet", "limit"],
    ["fleet", "limit", "http://a"], ["fleet", "limit", "--connections", "1"],
    ["fleet", "limit", "http://a", "--connections", "-1"], ["fleet", "status", "--connections", "1"],
    ["worker", "x"], ["worker"],
    ["tasks", "--embedded", "--store", "postgresql://db/x"], ["doctor", "--store", "postgresql://db/x"],
    ["service", "install", "--store", "postgresql://db/x"],
    ["limits", "x"], ["limits", "set"], ["limits", "--parallel-max", "3"], ["limits", "set", "--limit-rate", "fast"],
    ["rate"], ["rate", "fast", "1"], ["rate", "1"], ["rate", "1", "x"], ["priority", "1"], ["priority", "101", "1"],
    ["constrain", "1"], ["constrain", "--none"], ["constrain", "1", "--none", "--overnight"],
    ["constrain", "1", "--minimum-battery", "101"], ["constrain", "1", "--unmetered", "auto"],
    ["reschedule", "1"], ["reschedule", "--earliest-start", "now"], ["reschedule", "1", "--earliest-start", "noon"],
    ["reschedule", "1", "--latest-start", "never"], ["attempts"], ["attempts", "x"],
    ["history", "1"], ["history", "--after", "x"], ["tasks", "--group"],
    ["put"], ["put", "http://a/1"], ["put", "a", "b", "http://a/1"], ["put", "-F", "a=b", "file", "http://a/1"],
    ["put", "-F", "=b", "http://a/1"], ["put", "-F", "a=@b;size=1", "http://a/1"], ["put", "/absent", "http://a/1"],
    ["put", "--suspended", "file", "http://a/1"], ["put", "-F", "a=b", "--data-binary", "c", "http://a/1"],
    ["put", "--no-wait", "--timeout", "5", "file", "http://a/1"],
    ["get", "--checksum", "md5:00", "http://a/1"], ["get", "--checksum", "sha-256:00", "http://a/1"],
    ["get", "--size", "1", "http://a/1", "http://a/2"], ["get", "-J", "-o", "f", "http://a/1"],
    ["get", "-z", "--if-exists", "fail", "http://a/1"], ["get", "--skip-existing", "-z", "http://a/1"],
    ["get", "--skip-existing", "--if-exists", "replace", "http://a/1"], ["add", "--skip-existing", "-J", "http://a/1"],
    ["activities", "set", "a", "http://a/1", "--every", "1h", "--skip-existing"],
    ["activities", "--every", "5m", "--once"], ["activities", "remove", "news", "--every", "5m"],
    ["get", "--expires-in", "5", "http://a/1"],
    ["get", "--max-time", "-1", "http://a/1"], ["get", "--max-time", "nan", "http://a/1"],
    ["get", "--limit-rate", "1e3", "http://a/1"], ["get", "--body-source", "snapshot", "http://a/1"],
    ["get", "--accept-status", "500", "--retry-status", "500", "http://a/1"],
    ["respond", "1", "--refuse", "--default"], ["respond", "1", "--url", "http://a/", "--user", "ann"],
    ["respond", "1", "--refuse", "--expires-in", "soon"],
    *(["get", "--embedded", *words] for words in (
        ["ftp://example.org/a"], ["example.org/a"], ["http://user:secret@example.org/a"],
        ["-H", "A: b\r\nC: d", "http://example.org/a"], ["--application", "a b", "http://example.org/a"])),
])
def test_an_invalid_command_line_exits_with_2_and_prints_a_reason(words, tmp_path):
    ended = run(*words, HOME=str(tmp_path))
    assert ended.returncode == 2, ended
    assert ended.stderr.strip()
    assert ended.stdout == ""


@pytest.mark.parametrize("words", [["why"], ["doctor"], ["add", "http://a/1"]], ids=lambda words: words[0])
def test_a_relative_path_in_the_variable_backhaul_store_is_refused(tmp_path, words):
    ended = run(*words, HOME=str(tmp_path), BACKHAUL_STORE="relative")
    assert (ended.returncode, ended.stdout) == (6, "")
    assert "relative; give an absolute path" in ended.stderr


def test_the_doctor_command_accepts_a_home_directory_without_directories_for_the_store(tmp_path):
    assert f"{tmp_path}/.local/state/backhaul does not exist yet" in run("doctor", HOME=str(tmp_path)).stdout


def test_the_doctor_command_reports_a_home_directory_that_is_a_file(tmp_path):
    home = tmp_path / "file"
    home.touch()
    ended = run("doctor", HOME=str(home))
    assert (ended.returncode, "error    store" in ended.stdout) == (6, True)


def test_the_help_starts_with_an_example_and_lists_all_commands_and_exit_codes():
    text = run("--help").stdout
    assert text.splitlines()[2].startswith("  backhaul get ")
    assert re.findall(r"^  ([a-z]+)  ", text.split("Commands:")[1].split("Options")[0], flags=re.M) == COMMANDS
    codes = re.findall(r"^  (\d)  (.+)$", text, flags=re.M)
    assert [int(code) for code, _ in codes] == list(range(10))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_starts_with_an_example(command):
    for words in ([command, "--help"], ["help", command]):
        ended = run(*words)
        assert ended.returncode == 0
        assert ended.stdout.startswith(f"  backhaul {command}")
        assert max(map(len, ended.stdout.splitlines())) <= 80


def test_the_version_option_prints_the_version_in_the_c_header():
    header = (PROJECT / "include" / "backhaul.h").read_text()
    version = ".".join(re.search(rf"BH_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))
    assert run("--version").stdout == f"backhaul {version}\n"


def test_the_document_of_the_command_line_lists_the_same_exit_codes_as_the_help():
    page = (PROJECT / "docs" / "command-line.md").read_text()
    codes = re.findall(r"^\| (\d) \| (.+?) \|$", page, flags=re.M)
    assert codes == re.findall(r"^  (\d)  (.+)$", run("--help").stdout, flags=re.M)


def test_the_default_store_is_in_the_state_folder_and_only_the_user_can_read_it(tmp_path):
    assert run("wait", "--embedded", HOME=str(tmp_path)).returncode == 0
    store = tmp_path / ".local" / "state" / "backhaul"
    assert store.stat().st_mode & 0o777 == 0o700
    other = tmp_path / "other"
    assert run("wait", "--embedded", HOME=str(tmp_path), XDG_STATE_HOME=str(other)).returncode == 0
    assert (other / "backhaul").stat().st_mode & 0o777 == 0o700


def test_a_relative_path_in_xdg_state_home_is_ignored(tmp_path):
    assert run("wait", "--embedded", HOME=str(tmp_path), XDG_STATE_HOME="relative").returncode == 0
    assert (tmp_path / ".local" / "state" / "backhaul").is_dir()


def test_the_variable_backhaul_store_sets_the_path_of_the_store(tmp_path):
    store = tmp_path / "named"
    assert run("wait", "--embedded", HOME=str(tmp_path), BACKHAUL_STORE=str(store)).returncode == 0
    assert store.is_dir()
    assert not (tmp_path / ".local").exists()


def test_a_command_exits_with_6_if_the_file_of_the_database_is_no_database(tmp_path):
    store = tmp_path / "store"
    store.mkdir(mode=0o700)
    (store / "backhaul.sqlite3").write_bytes(b"no database " * 1000)
    ended = run("tasks", "--embedded", "--store", str(store))
    assert ended.returncode == 6, ended
    assert ended.stderr.startswith("backhaul: ")


def test_a_command_exits_with_2_if_its_store_path_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    ended = run("tasks", "--embedded", "--store", str(file))
    assert ended.returncode == 2, ended
    assert str(file) in ended.stderr


def test_a_command_exits_with_3_if_its_session_or_task_does_not_exist(backhaul):
    backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    for words in (["info", "99"], ["cancel", "99"], ["claim", "99", "file"], ["wait", "--session", "absent"],
                  ["tasks", "--session", "absent"], ["events", "--session", "absent"]):
        ended = backhaul(*words, code=3)
        assert ended.stderr.startswith("backhaul: ")


def test_a_command_prints_nothing_if_the_default_session_does_not_exist(backhaul):
    backhaul("register", "--application", "org.example.other", "/bin/true")
    for command in ("wait", "tasks", "events", "sessions"):
        ended = backhaul(command)
        assert ended.stdout == ended.stderr == ""
    assert backhaul.json("tasks") == []


def test_a_command_that_lists_or_controls_tasks_does_not_create_a_store(tmp_path):
    typo = tmp_path / "typo"
    for words, code in ((["tasks"], 0), (["events"], 0), (["sessions"], 0), (["applications"], 0), (["launches"], 0),
                        (["challenges"], 0), (["unregister"], 0), (["tasks", "--session", "absent"], 3),
                        (["info", "1"], 3), (["cancel", "--all"], 3), (["respond", "1", "--refuse"], 3)):
        ended = run(*words, "--store", str(typo))
        assert (ended.returncode, ended.stdout) == (code, ""), words
        said = f"backhaul: there is no store at {typo}\n" if code else f"There is no store at {typo}.\n"
        assert ended.stderr == said
        assert not typo.exists()
    empty = tmp_path / "empty"
    empty.mkdir()
    run("tasks", "--store", str(empty))
    assert list(empty.iterdir()) == []
    assert str(tmp_path) in run("tasks", HOME=str(tmp_path)).stderr
    assert list(tmp_path.iterdir()) == [empty]


def test_options_are_accepted_before_the_command_and_after_the_arguments(backhaul):
    ended = subprocess.run(
        [COMMAND, "--store", str(backhaul.store), "--embedded", "add", "http://127.0.0.1:9/a", "--json", "--suspended"],
        cwd=backhaul.here, env=backhaul.environment, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(ended.stdout)["disposition"] == "new"


# Commands that read standard input before they do anything else.
@pytest.mark.parametrize("words", [
    ["add", "-i", "-"], ["put", "--data-binary", "@-", "http://a/1"], ["get", "--header-file", "-", "http://a/1"],
    ["respond", "1", "--user", "ann", "--password-file", "-"],
], ids=lambda words: words[0])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_ends_a_command_that_reads_its_input(words, number, tmp_path):
    store = tmp_path / "store"
    with subprocess.Popen([COMMAND, "--store", store, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        # The process reads when the pipe is empty again.
        process.stdin.write(b"\n")
        process.stdin.flush()
        while fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0\0\0\0") != b"\0\0\0\0":
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(60) == -number
    assert not store.exists()


@pytest.mark.parametrize("words", [
    ["get", "-o", b"p\xe9", "http://a/1"], ["tasks", "--store", b"/tmp/p\xe9"], [b"p\xe9"],
], ids=["option", "store", "command"])
def test_an_argument_that_is_not_utf8_is_refused(words, tmp_path):
    ended = subprocess.run([COMMAND, *words], env={"HOME": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True,
                           timeout=60, check=False)
    number = next(number for number, word in enumerate(words, 1) if isinstance(word, bytes))
    assert (ended.returncode, f"argument {number} is not valid UTF-8: " in ended.stderr) == (2, True), ended.stderr
    assert os.listdir(tmp_path) == []


def test_a_store_variable_or_a_directory_or_an_input_line_that_is_not_utf8_is_refused(tmp_path):
    folder = os.fsencode(tmp_path) + b"/p\xe9"
    os.mkdir(folder)

    def refusal(*words, **options):
        options = {"env": {"HOME": str(tmp_path)}, "cwd": tmp_path, **options}
        ended = subprocess.run([COMMAND, *words], capture_output=True, timeout=60, check=False, **options)
        assert ended.returncode == 2, ended.stderr
        return ended.stderr.decode()

    assert "BACKHAUL_STORE is not valid UTF-8" in refusal("tasks", env={b"BACKHAUL_STORE": folder})
    assert "current directory is not valid UTF-8" in refusal("get", "http://a/1", cwd=folder)
    listed = refusal("get", "-i", "-", input=b"http://a/\xe9\n")
    assert re.search("standard input:1: .* not valid UTF-8", listed)
    assert os.listdir(tmp_path) == [os.fsdecode(b"p\xe9")]


def test_a_command_with_absolute_paths_works_in_a_removed_directory(tmp_path):
    (tmp_path / "gone").mkdir()
    ended = subprocess.run(["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", COMMAND, "add", "--suspended", "-o",
                            tmp_path / "file", "http://127.0.0.1:9/a"], cwd=tmp_path / "gone", capture_output=True,
                           env={"HOME": str(tmp_path)}, text=True, timeout=60, check=False)
    end_daemons(tmp_path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(("words", "code", "status"), [
    (["get", "--json", "--unknown", "http://127.0.0.1:9/a"], 2, "BH_INVALID_ARGUMENT"),
    (["wait", "--json", "unexpected"], 2, "BH_INVALID_ARGUMENT"),
    (["get", "--json", "--timeout", "1", "http://127.0.0.1:9/a"], 5, "BH_TIMEOUT"),
])
def test_with_json_each_error_of_the_command_is_one_object(backhaul, words, code, status):
    (line,) = [line for line in backhaul(*words, code=code).stderr.splitlines() if line.startswith("{")]
    assert json.loads(line)["error"]["status"] == status


@pytest.mark.hosting("embedded")
@pytest.mark.parametrize("words", [
    ["get", "--input", "-", "--header-file", "-"], ["get", "--input", "-", "--checksums", "-"],
    ["put", "--header-file", "-", "--data-binary", "@-", "http://127.0.0.1:9/a"],
    ["put", "--form", "a=<-", "--form", "b=<-", "http://127.0.0.1:9/a"],
])
def test_only_one_option_reads_standard_input(backhaul, words):
    assert "two options read standard input" in backhaul(*words, code=2, stdin="http://127.0.0.1:9/b\n").stderr


@pytest.mark.hosting("embedded")
def test_a_proxy_without_a_scheme_is_an_http_proxy(backhaul):
    (settings,) = backhaul.json("configure", "-x", "127.0.0.1:3128")
    assert settings["proxy"]["url"] == "http://127.0.0.1:3128"


@pytest.mark.hosting("embedded")
@pytest.mark.parametrize(("words", "text"), [
    (["add", "--retry-errors", "none,tls", "http://127.0.0.1:9/a"], "give none alone"),
    (["add", "--if-exists", "skip", "http://127.0.0.1:9/a"], "--checksum or --size"),
])
def test_messages_of_the_library_name_options(backhaul, words, text):
    ended = backhaul(*words, code=2)
    assert text in ended.stderr and "BH_" not in ended.stderr
