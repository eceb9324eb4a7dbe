"""`--checksums`: each file is verified with its line of a list such as SHA256SUMS."""

import hashlib
import subprocess

import pytest

from command_line import LIMIT, until
from servers.content import Content

pytestmark = pytest.mark.hosting("daemon")

CONTENT = b"released\n" * 1000
RIGHT, WRONG = hashlib.sha256(CONTENT).hexdigest(), "0" * 64
RIGHT_512 = hashlib.sha512(CONTENT).hexdigest()


@pytest.fixture
def sums(backhaul):
    def write(*lines):
        (backhaul.here / "SUMS").write_text("\n".join(lines) + "\n")

    return write


@pytest.mark.parametrize("lines", [
    [f"{WRONG}  b", f"{RIGHT}  a"], [f"{RIGHT.upper()} *./pub/a"], [f"SHA256 (a) = {RIGHT}"],
    [f"SHA512 (a) = {RIGHT_512}"],
    [f"{WRONG}  other/a", f"{RIGHT}  pub/a"], ["# list", f"MD5 (a) = {'0' * 32}", f"SHA512/256 (a) = {WRONG}",
                                               f"{RIGHT_512}  a"]],
    ids=["text", "binary", "BSD", "BSD 512", "paths", "other algorithms"])
def test_a_file_is_verified_with_its_line(backhaul, serve, sums, lines):
    server = serve({"/pub/a": CONTENT})
    sums(*lines)
    backhaul("get", "--checksums", "SUMS", f"{server.url}/pub/a")
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_a_file_that_does_not_match_its_line_fails(backhaul, serve, sums):
    server = serve({"/a": CONTENT, "/b": CONTENT})
    sums(f"{WRONG}  a", f"{RIGHT}  b")
    ended = backhaul("get", "--checksums", "SUMS", f"{server.url}/a", f"{server.url}/b", code=1)
    assert "CHECKSUM_MISMATCH" in ended.stderr and ended.stdout == f"{backhaul.here}/b\n"


def test_the_name_of_the_local_file_counts_if_no_line_has_the_name_in_the_url(backhaul, serve, sums):
    server = serve({"/download": CONTENT})
    sums(f"{RIGHT}  a.iso")
    backhaul("get", "--checksums", "SUMS", "-o", "a.iso", f"{server.url}/download")
    assert (backhaul.here / "a.iso").read_bytes() == CONTENT


def test_a_file_without_a_line_is_refused(backhaul, sums):
    sums(f"{RIGHT}  a")
    ended = backhaul("get", "--checksums", "SUMS", "http://127.0.0.1:9/a", "http://127.0.0.1:9/b", code=2)
    assert "SUMS has no checksum of b" in ended.stderr
    assert not backhaul.store.exists()


def test_a_line_of_a_list_without_a_checksum_does_not_refuse_the_others(backhaul, serve, sums):
    server = serve({"/a": CONTENT, "/c": CONTENT})
    sums(f"{RIGHT}  a")
    (backhaul.here / "list").write_text(f"{server.url}/a\n{server.url}/b\n{server.url}/c\n checksum={RIGHT}\n")
    ended = backhaul("get", "--checksums", "SUMS", "-i", "list", code=2)
    assert "list:2: SUMS has no checksum of b" in ended.stderr
    assert sorted(ended.stdout.splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/c"]


def test_two_different_lines_of_one_name_are_refused(backhaul, sums):
    sums(f"{RIGHT}  x/a", f"{WRONG}  y/a")
    assert "several checksums" in backhaul("get", "--checksums", "SUMS", "http://127.0.0.1:9/a", code=2).stderr


def test_a_file_without_checksums_is_refused(backhaul, sums):
    sums("nothing", f"MD5 (a) = {'0' * 32}")
    assert "SHA-256" in backhaul("get", "--checksums", "SUMS", "http://127.0.0.1:9/a", code=2).stderr
    sums(f"{RIGHT}  a")
    backhaul("get", "--checksums", "SUMS", "--checksum", RIGHT, "http://127.0.0.1:9/a", code=2)


@pytest.mark.parametrize("command", ["get", "add"])
def test_a_list_with_a_url_is_fetched_first(backhaul, serve, command):
    server = serve({"/a": CONTENT, "/SUMS": f"{RIGHT}  a\n".encode()})
    ended = backhaul(command, "--checksums", f"{server.url}/SUMS", f"{server.url}/a")
    assert "no forgery" in ended.stderr
    backhaul("wait")
    assert (backhaul.here / "a").read_bytes() == CONTENT
    assert [session["identifier"] for session in backhaul.json("sessions")] == ["default"]
    assert list(backhaul.here.iterdir()) == [backhaul.here / "a"]


def test_a_list_that_a_killed_command_with_the_same_process_number_has_fetched_is_not_used(backhaul, serve):
    server = serve({"/a": CONTENT, "/former": f"{WRONG}  a\n".encode(), "/SUMS": f"{RIGHT}  a\n".encode()})
    words = backhaul.arguments("get", "--checksums", f"{server.url}/SUMS", f"{server.url}/a")
    # The shell shows its process number, which the command keeps.
    with subprocess.Popen(
            ["sh", "-c", 'echo $$; read line; exec "$@"', "sh", *words], cwd=backhaul.here, env=backhaul.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        former = ["--session", f"default+checksums-{int(command.stdout.readline())}"]
        backhaul("add", *former, f"{server.url}/former")
        until(lambda: backhaul.json("tasks", *former)[0]["state"] == "succeeded", "the end of the former list")
        _, errors = command.communicate("\n", timeout=LIMIT)
    assert command.returncode == 0, errors
    assert (backhaul.here / "a").read_bytes() == CONTENT
    assert [session["identifier"] for session in backhaul.json("sessions")] == ["default"]


@pytest.mark.parametrize(("path", "code", "reason"), [
    ("SUMS", 8, "--checksums FILE"), ("free", 2, "no checksums"), ("absent", 1, "404")])
def test_a_list_that_cannot_be_used_refuses_the_command(backhaul, guarded, free, server, path, code, reason):
    urls = {"SUMS": f"{guarded({'/SUMS': b''}).url}/SUMS", "free": f"{free}/a",
            "absent": server.serve("/a", Content(1)).replace("/a", "/absent")}
    ended = backhaul("get", "--checksums", urls[path], "http://127.0.0.1:9/a", code=code)
    assert reason in ended.stderr
    assert (backhaul.json("sessions"), list(backhaul.here.iterdir())) == ([], [])
