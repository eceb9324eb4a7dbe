"""The configuration file: defaults of options by command."""

import pytest

from test_usage import run

pytestmark = pytest.mark.hosting("daemon")


@pytest.fixture
def configure(backhaul):
    """Returns a function that writes the configuration file."""
    file = backhaul.folder / ".config" / "backhaul" / "config"
    file.parent.mkdir(parents=True)

    def write(text, mode=0o600):
        file.write_text(text)
        file.chmod(mode)
        return file

    return write


def priorities(backhaul):
    """The priorities of the session's transfers."""
    return [task["priority"] for task in backhaul.json("tasks")]


def add(backhaul, name, *words, **options):
    return backhaul("add", "--suspended", f"http://127.0.0.1:9/{name}", *words, **options)


def test_a_command_takes_its_options_from_its_section(backhaul, configure):
    configure("# Mine\n\n[put]\npriority = 9\n[get add]\n  priority = 2 \ngroup=mine\n")
    add(backhaul, "a")
    (task,) = backhaul.json("tasks")
    assert (task["priority"], task["group"]) == (2, "mine")


def test_an_option_on_the_command_line_replaces_the_option_of_the_file(backhaul, configure):
    configure("[add]\npriority = 2\n")
    add(backhaul, "a", "--priority", "3")
    assert priorities(backhaul) == [3]


def test_an_option_on_the_command_line_replaces_an_option_of_the_file_that_it_excludes(backhaul, configure):
    configure("[add]\novernight\nskip-existing\n")
    add(backhaul, "a", "--preset", "discretionary", "--if-exists", "replace")
    assert backhaul.json("tasks")[0]["constraints"]["preset"] == "discretionary"
    configure("[put]\ntimeout = 5\n")
    backhaul("put", "--no-wait", "--suspended", "--data-binary", "x", "http://127.0.0.1:9/b")


def test_the_section_of_every_command_chooses_the_session(backhaul, configure):
    configure("[*]\nsession = work\n")
    assert backhaul("tasks").stdout == ""
    add(backhaul, "a")
    assert [session["identifier"] for session in backhaul.json("sessions")] == ["work"]
    assert len(backhaul.json("tasks")) == 1
    assert backhaul("tasks", "--session", "absent", code=3).stderr


def test_without_the_file_of_the_user_a_command_has_its_own_defaults(backhaul, configure):
    configure("[add]\npriority = 2\n")
    add(backhaul, "a", "--no-config")
    assert priorities(backhaul) == [0]


def test_a_variable_names_another_file(backhaul, configure):
    configure("[add]\npriority = 2\n")
    other = backhaul.folder / "other"
    other.write_text("[add]\npriority = 5\n")
    add(backhaul, "a", BACKHAUL_CONFIG=str(other))
    assert priorities(backhaul) == [5]
    for wrong in (f"{other}-absent", "relative"):
        assert wrong in add(backhaul, "b", code=2, BACKHAUL_CONFIG=wrong).stderr


def test_a_path_in_the_file_may_begin_in_the_home_directory(backhaul, configure):
    configure("[add]\ndirectory = ~/here\n")
    add(backhaul, "a")
    assert backhaul.json("tasks")[0]["destination"] == f"{backhaul.here}/a"


def test_each_wrong_line_is_named_with_advice_and_the_command_is_refused(backhaul, configure):
    file = configure("\n".join([
        "priority = 2", "[gte]", "retry = 2", "[get]", "priorit = 2", "--retry = 3", "retry", "discretionary = yes",
        "help", "[*]", "priority = 2", "[]", "[put", "[get]", "attempts = 3"]))
    expected = {
        1: "write [get]", 2: "did you mean 'get'?", 3: "no valid header", 5: "did you mean 'priority'?",
        6: "did you mean 'retry'?", 7: "retry = NUMBER", 8: "write discretionary alone", 9: "only be on the command",
        11: "such as [get]", 12: "[*] for every command", 13: "[*] for every command"}
    ended = backhaul("tasks", code=2)
    lines = ended.stderr.splitlines()[:-1]
    assert [line.split(": ")[1] for line in lines] == [f"{file}:{number}" for number in expected]
    for line, advice in zip(lines, expected.values(), strict=True):
        assert advice in line
    assert run("get", "--help", HOME=str(backhaul.folder)).returncode == 0
    backhaul("tasks", "--no-config")


def test_the_message_about_a_wrong_value_names_the_line_of_the_file(backhaul, configure):
    file = configure("[add]\n\npriority = fast\n")
    assert f"--priority is from {file}:3" in add(backhaul, "a", code=2).stderr


def test_an_option_below_a_command_that_does_not_take_it_is_refused_with_the_name_of_another_command(
        backhaul, configure):
    configure("[get add]\nuser = ann\n")
    assert "`add` has no option 'user'; write it below" in add(backhaul, "a", code=2).stderr


@pytest.mark.parametrize(("line", "is_secret"), [
    ("proxy-user = ann:secret", True), ("header = Authorization: Bearer x", True), ("header = X-Api-Key: x", True),
    ("proxy = http://ann:secret@127.0.0.1:9", True), ("header = Accept: a/b", False), ("proxy-user = ann", False)])
def test_a_file_with_a_secret_must_be_private(backhaul, configure, line, is_secret):
    file = configure(f"[get]\n{line}\n", mode=0o640)
    ended = backhaul("limits", code=2 if is_secret else 0)
    assert (f"{file}:2: " in ended.stderr and f"chmod 600 {file}" in ended.stderr) == is_secret
    assert "secret@" not in ended.stderr and "Bearer" not in ended.stderr
    file.chmod(0o600)
    backhaul("limits")



@pytest.mark.parametrize(("line", "message"), [
    ("directory ~/downloads", "'=' is missing after directory; write directory = DIRECTORY"),
    ("header\tAccept: a=b", "'=' is missing after header; write header = "),
    ("skip-existing yes", "skip-existing takes no value; write skip-existing alone")])
def test_a_line_without_its_equals_sign_is_refused_with_the_correct_line(backhaul, configure, line, message):
    file = configure(f"[get]\n{line}\n")
    assert f"{file}:2: {message}" in backhaul("limits", code=2).stderr
