"""Credentials that the user gives before a server asks: on the command line, in a file, or in a netrc file."""

import os

import pytest

from command_line import until
from test_terminal import Terminal

pytestmark = pytest.mark.hosting("daemon")

CONTENT = b"staff only\n" * 1000


@pytest.fixture
def netrc(backhaul):
    """Returns a function that writes ~/.netrc."""
    def write(text, mode=0o600, name=".netrc"):
        file = backhaul.folder / name
        file.write_text(text)
        file.chmod(mode)
        return file

    return write


def fetched(backhaul, name="a"):
    return (backhaul.here / name).read_bytes() == CONTENT


@pytest.mark.parametrize("words", [
    ["-u", "ann:secret word"], ["--user", "ann", "--password-file", "password"],
    ["--user", "ann", "--password-file", "-"]], ids=["option", "file", "stdin"])
def test_a_server_that_asks_gets_the_user_and_the_password_of_the_command(backhaul, guarded, words):
    server = guarded({"/a": CONTENT})
    (backhaul.here / "password").write_text("secret word\n")
    (backhaul.here / "password").chmod(0o600)
    ended = backhaul("get", *words, f"{server.url}/a", stdin="secret word\n")
    assert fetched(backhaul) and "credential" not in ended.stderr


@pytest.mark.parametrize("option", ["--user", "--netrc", "--netrc-file"])
def test_a_command_for_another_user_does_not_send_the_credential_of_an_earlier_command(
        backhaul, guarded, netrc, option):
    server = guarded({"/a": CONTENT})
    backhaul("get", "--user", "ann:secret word", f"{server.url}/a")
    netrc("machine 127.0.0.1 login bob password guess")
    words = {"--user": ["bob:guess"], "--netrc": [], "--netrc-file": [f"{backhaul.folder}/.netrc"]}[option]
    ended = backhaul("get", option, *words, "-o", "b", f"{server.url}/a", code=8)
    assert f"{option} applies only to the transfers of this command." in ended.stderr
    assert [challenge["failures"] for challenge in backhaul.json("challenges")] == [1]
    assert not (backhaul.here / "b").exists()


def test_a_command_with_a_user_finds_the_transfer_of_the_same_user(backhaul, guarded):
    server = guarded({"/a": CONTENT, "/b": CONTENT})
    for name in "aab":
        backhaul("get", "-u", "ann:secret word", f"{server.url}/{name}")
    assert len(backhaul.json("sessions")) == 1


def test_a_transfer_that_waits_for_a_credential_gets_the_user_of_a_later_command(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    backhaul("get", f"{server.url}/a", code=8)
    backhaul("get", "-u", "ann:secret word", f"{server.url}/a")
    assert fetched(backhaul)
    assert [session["identifier"] for session in backhaul.json("sessions")] == ["default"]


def test_the_command_asks_for_the_password_before_it_enqueues_anything(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    terminal = Terminal(backhaul, "get", "-u", "ann", f"{server.url}/a")
    terminal.read(b"Password of ann: ")
    assert not backhaul.store.exists()
    os.write(terminal.control, b"secret word\n")
    assert (terminal.end(), fetched(backhaul)) == (0, True)
    assert b"secret" not in terminal.seen and b"asks for a credential" not in terminal.seen


def test_without_a_terminal_a_user_without_a_password_is_refused(backhaul):
    assert "--password-file" in backhaul("get", "-u", "ann", "http://127.0.0.1:9/a", code=2).stderr
    assert not backhaul.store.exists()


def test_a_rejected_password_is_sent_only_once(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    ended = backhaul("get", "-u", "ann:wrong", f"{server.url}/a", code=8)
    assert "rejected the credential" in ended.stderr and "respond" in ended.stderr
    (challenge,) = backhaul.json("challenges")
    assert challenge["failures"] == 1
    backhaul("get", "-u", "ann:secret word", f"{server.url}/a")
    assert fetched(backhaul)


def test_a_server_to_which_a_redirect_leads_does_not_get_the_credential(backhaul, guarded, free, netrc):
    server = guarded({"/a": CONTENT})
    netrc("machine 127.0.0.1 login ann password \"secret word\"\n")
    for words in (["-u", "ann:secret word"], ["--netrc"]):
        backhaul("get", *words, "-o", "a", f"{free}/to/{server.url}/a", code=8)
        assert backhaul.json("challenges")[0]["failures"] == 0


@pytest.mark.parametrize("words", [["add"], ["put", "--no-wait", "--data-binary", "x"]], ids=["add", "put"])
def test_a_command_that_ends_before_a_server_asks_refuses_credentials(backhaul, words):
    for option in (["-u", "ann:secret"], ["--netrc"]):
        ended = backhaul(*words, *option, "http://127.0.0.1:9/a", code=2)
        assert "backhaul wait --netrc" in ended.stderr and "secret" not in ended.stderr


@pytest.mark.parametrize("text", [
    'machine 127.0.0.1 login ann password "secret word"', '# mine\nmachine\n  127.0.0.1\n\tlogin ann\n'
    'password "secret\\ word" # the end\n',
    'machine example.org login bob password x\ndefault login ann password "secret word"',
    'macdef init\nmachine 127.0.0.1 login bob password x\n\nmachine 127.0.0.1 login ann password "secret word"',
    'machine 127.0.0.1 login bob\nmachine 127.0.0.1 login ann password "secret word" account x\n'
    'machine 127.0.0.1 login eve password x',
    'machine example.org login bob password "\u0301 machine 127.0.0.1 login eve password x"\n'
    'machine 127.0.0.1 login ann password "secret word"'],
    ids=["one line", "lines", "default", "macro", "first that is complete", "combining mark"])
def test_a_server_that_asks_gets_the_credential_of_its_host_in_the_netrc_file(backhaul, guarded, netrc, text):
    server = guarded({"/a": CONTENT})
    netrc(text)
    backhaul("get", "-n", f"{server.url}/a")
    assert fetched(backhaul)


def test_a_netrc_file_without_the_host_gives_no_credential(backhaul, guarded, netrc):
    server = guarded({"/a": CONTENT})
    netrc('machine localhost login ann password "secret word"')
    backhaul("get", "--netrc", f"{server.url}/a", code=8)
    assert backhaul.json("challenges")[0]["failures"] == 0


def test_an_option_and_a_variable_name_another_netrc_file(backhaul, guarded, netrc):
    server = guarded({"/a": CONTENT, "/b": CONTENT})
    file = netrc('machine 127.0.0.1 login ann password "secret word"', name="other")
    backhaul("get", "--netrc-file", file, f"{server.url}/a")
    backhaul("get", "--netrc", "--session", "second", f"{server.url}/b", NETRC=str(file))
    assert fetched(backhaul) and fetched(backhaul, "b")


def test_only_an_optional_netrc_file_may_be_missing(backhaul, serve):
    server = serve({"/a": CONTENT})
    assert ".netrc cannot be read" in backhaul("get", "--netrc", f"{server.url}/a", code=2).stderr
    backhaul("get", "--netrc-optional", f"{server.url}/a")
    assert fetched(backhaul)


def test_the_wait_command_gives_the_credentials_of_the_netrc_file(backhaul, guarded, netrc):
    server = guarded({"/a": CONTENT})
    netrc('machine 127.0.0.1 login ann password "secret word"')
    backhaul("add", f"{server.url}/a")
    until(lambda: backhaul.json("challenges"), "the challenge")
    backhaul("wait", "--netrc")
    assert fetched(backhaul)


def test_a_file_with_a_password_must_be_private(backhaul, netrc):
    file = netrc("machine 127.0.0.1 login ann password x", mode=0o644)
    other = netrc("secret", mode=0o604, name="password")
    for words in (["get", "--netrc"], ["get", "--netrc-file", file]):
        assert f"chmod 600 {file}" in backhaul(*words, "http://127.0.0.1:9/a", code=2).stderr
    for words in (["get", "-u", "ann", "http://127.0.0.1:9/a"], ["respond", "1", "-u", "ann"]):
        assert f"chmod 600 {other}" in backhaul(*words, "--password-file", other, code=2).stderr


def test_a_password_file_without_a_password_is_refused(backhaul, netrc):
    file = netrc("\nsecond", name="password")
    for words in (["get", "-u", "ann", "--password-file", file, "http://127.0.0.1:9/a"],
                  ["configure", "-x", "http://127.0.0.1:9", "--proxy-user", "ann", "--proxy-password-file", file]):
        assert f"{file} has no password in its first line" in backhaul(*words, code=2).stderr


def test_the_message_about_a_malformed_netrc_file_names_the_line(backhaul, netrc):
    file = netrc('machine 127.0.0.1\nlogin "ann')
    assert f"{file}:2: " in backhaul("get", "--netrc", "http://127.0.0.1:9/a", code=2).stderr


@pytest.mark.parametrize("words", [
    ["-u", "ann:x", "--netrc"], ["-u", ":x"], ["-u", "ann:x", "--password-file", "/dev/null"],
    ["--password-file", "/dev/null"], ["-u", "ann:x", "--credentials", "fail"]])
def test_options_for_credentials_that_contradict_each_other_are_refused(backhaul, words):
    backhaul("get", *words, "http://127.0.0.1:9/a", code=2)
