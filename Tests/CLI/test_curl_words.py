"""Options that people know from curl: some are accepted, for the others a message names what to use instead."""

import pytest

pytestmark = pytest.mark.hosting("daemon")

URL = "http://127.0.0.1:9/a"


@pytest.mark.parametrize("words", [
    ["-fsSL", "-O"], ["--location", "--fail", "--show-error", "--silent", "--remote-name"], ["-C", "-", "-#"], ["-LZ"],
    ["-c", "--retry-all-errors"]])
def test_words_for_what_is_done_anyway_are_accepted(backhaul, serve, words):
    server = serve({"/a": b"one"})
    assert backhaul("get", *words, f"{server.url}/a").stdout == f"{backhaul.here}/a\n"


def test_silent_means_quiet(backhaul):
    assert backhaul("add", "--suspended", "-s", URL).stderr == ""
    assert backhaul("add", "--suspended", URL + "b").stderr != ""


@pytest.mark.parametrize(("words", "advice"), [
    (["-k"], "--cacert"), (["-I"], "backhaul attempts"), (["-A", "x"], "-H 'User-Agent: NAME'"),
    (["-C", "5"], "only -"), (["--data", "a=b"], "--data-binary"), (["-d", "a=b"], "--data-binary"),
    (["-O", "-o", "b"], "--output"), (["-v"], "backhaul why"),
    (["--connect-timeout", "5"], "--request-timeout"), (["-6"], "all addresses"), (["--resolve", "a:80:::1"], "hosts"),
    (["-R"], "the time of its download"), (["--out", "b"], "--output FILE"), (["-P", "b"], "--directory"),
    (["--split=5"], "one connection"), (["-x16"], "--connections"), (["-j5"], "--parallel-max"),
    (["--max-overall-download-limit=1M"], "backhaul limits set"), (["--tries=3"], "--retry"),
    (["--recursive"], "--input FILE"), (["--mirror"], "--input FILE"), (["--resume"], "where they stopped"),
    (["--output-document=b"], "--output FILE"), (["--input-file", "b"], "--input FILE"), (["--dir=b"], "--directory"),
    (["--timestamping"], "--if-changed"), (["--allow-overwrite=true"], "--if-exists replace"),
    (["--max-tries=3"], "--retry NUMBER"), (["--http-user=ann"], "--user"), (["--post-data", "a=b"], "--data-binary"),
    (["--background"], "backhaul add"),
    (["--no-check-certificate"], "--cacert FILE"), (["--all-proxy", "a"], "--proxy")])
def test_other_words_are_refused_with_advice(backhaul, words, advice):
    assert advice in backhaul("get", *words, URL, code=2).stderr
    assert not backhaul.store.exists()


def test_if_the_recursive_option_of_wget_takes_the_url_as_a_range_the_error_says_so(backhaul):
    assert f"there is no URL, because --range has taken '{URL}' as its value" in backhaul(
        "get", "-r", URL, code=2).stderr
    assert "there is no URL; give one" in backhaul("get", "-r", "0-9", code=2).stderr


def test_the_data_option_of_an_upload_is_refused_with_advice(backhaul):
    assert "write --data-binary DATA" in backhaul("put", "-d", "a=b", URL, code=2).stderr


@pytest.mark.parametrize(("name", "advice"), [("remove", "cancel"), ("status", "tasks"), ("version", "--version")])
def test_commands_of_other_programs_are_refused_with_advice(backhaul, name, advice):
    assert advice in backhaul(name, code=2).stderr


@pytest.mark.parametrize("path", ["[1-3].bin", "{1,2}.bin"])
def test_a_url_with_a_glob_of_curl_fails_with_advice(backhaul, serve, path):
    ended = backhaul("get", f"{serve({}).url}/{path}", code=1)
    assert "the shell expands {1..3} and {a,b}" in ended.stderr
