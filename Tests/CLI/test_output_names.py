"""The names of downloaded files: several `--output`, words in it, and missing directories."""

import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.hosting("daemon")

URL = "http://127.0.0.1:9"


def destinations(backhaul, *words, **options):
    """The destinations that `add` prints, relative to the working directory."""
    backhaul("add", "--suspended", "--create-dirs", *words, **options)
    return [task["destination"].removeprefix(f"{backhaul.here}/") for task in backhaul.json("tasks")]


def test_each_url_has_its_own_output_in_the_order_of_the_command_line(backhaul, serve):
    server = serve({"/1": b"1", "/2": b"2"})
    ended = backhaul("get", "-o", "a", f"{server.url}/1", f"{server.url}/2", "-o", "b")
    assert sorted(ended.stdout.splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/b"]
    assert [(backhaul.here / name).read_bytes() for name in "ab"] == [b"1", b"2"]


@pytest.mark.parametrize("words", [["-o", "a"], ["-o", "a", "-o", "b"], ["-o", "a"] * 4])
def test_another_number_of_outputs_than_urls_is_refused(backhaul, words):
    assert "each URL" in backhaul("add", *words, *[f"{URL}/{name}" for name in "abc"], code=2).stderr


@pytest.mark.parametrize(("output", "url", "path"), [
    ("{host}/{path}/{name}", f"{URL}/a/b/c.zip", "127.0.0.1_9/a/b/c.zip"),
    ("{path}/{name}", f"{URL}/c.zip?x=/../y", "c.zip"),
    ("{number}-{name}", f"{URL}/a/", "1-index.html"),
    ("{host}/{path}/{name}", f"{URL}/../%2e%2e/a/..%2f..%2fb/.c", "127.0.0.1_9/a/b/c"),
    ("{{a}}/{name}", f"{URL}/c", "{a}/c"),
    ("x/./{path}/{name}", "http://[::1]/a%20b//c", "x/a b/c"),
])
def test_words_of_an_output_stand_for_parts_of_the_url(backhaul, output, url, path):
    assert destinations(backhaul, "-o", output, url) == [path]


def test_an_output_with_words_names_the_files_of_a_list(backhaul):
    (backhaul.here / "list").write_text(f"{URL}/b\n  out={{number}}/own\n{URL}/c\n")
    assert destinations(backhaul, "-o", "{number}-{name}", "-i", "list", f"{URL}/a") == ["1-a", "2/own", "3-c"]


@pytest.mark.parametrize(("output", "advice"), [
    ("{nmae}", "did you mean '{name}'?"), ("{hosts}/{name}", "did you mean '{host}'?"), ("{}", "{host}, {path}"),
    ("a{b", "{{"), ("a}b", "}}"), ("{path}", "add {name}"), ("", "is empty")])
def test_an_output_with_an_unknown_word_is_refused_with_advice(backhaul, output, advice):
    assert advice in backhaul("add", "--create-dirs", "-o", output, f"{URL}/a", code=2).stderr
    assert list(backhaul.here.iterdir()) == []


def test_two_urls_whose_files_have_the_same_name_are_refused_with_advice(backhaul):
    assert "{host}" in backhaul("add", f"{URL}/a/x", f"{URL}/b/x", code=2).stderr
    assert destinations(backhaul, "-o", "{path}-{name}", f"{URL}/a/x", f"{URL}/b/x") == ["a-x", "b-x"]


def test_missing_directories_are_created_only_if_the_option_is_given(backhaul, serve):
    server = serve({"/1": b"1"})
    for words in (["-o", "new/a"], ["-d", "new"]):
        assert "--create-dirs" in backhaul("get", *words, f"{server.url}/1", code=4).stderr
    backhaul("get", "--create-dirs", "-d", "new/deep", f"{server.url}/1")
    assert (backhaul.here / "new" / "deep" / "1").read_bytes() == b"1"
    assert (backhaul.here / "new").stat().st_mode & 0o700 == 0o700


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_each_directory_with_new_directories_is_synced_once(backhaul, tmp_path):
    trace = tmp_path / "trace"
    add = backhaul.arguments("add", "--suspended", "--create-dirs", "-o", "new/{number}/{name}", f"{URL}/a", f"{URL}/b")
    subprocess.run(["strace", "-y", "-e", "trace=fsync", "-o", trace, *add], cwd=backhaul.here,
                   env=backhaul.environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    synced = re.findall(r"fsync\(\d+<([^>]*)>", trace.read_text())
    assert sorted(synced) == [str(backhaul.here), str(backhaul.here / "new")]
