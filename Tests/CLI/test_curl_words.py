"""Options that people know from curl: some are accepted, for the others a message names what to use instead."""

import pytest

pytestmark = pytest.mark.hosting("daemon")

URL = "http://127.0.0.1:9/a"


@pytest.mark.parametrize("words", [
    ["-fsSL", "-O"], ["--location", "--fail", "--show-error", "--silent", "--remote-name"], ["-C", "-", "-#"], ["-LZ"]])
def test_words_for_what_is_done_anyway_are_accepted(backhaul, serve, words):
    server = serve({"/a": b"one"})
    assert backhaul("get", *words, f"{server.url}/a").stdout == f"{backhaul.here}/a\n"


def test_silent_means_quiet(backhaul):
    assert backhaul("add", "--suspended", "-s", URL).stderr == ""
    assert backhaul("add", "--suspended", URL + "b").stderr != ""


@pytest.mark.parametrize(("words", "advice"), [
    (["-k"], "--cacert"), (["-I"], "backhaul attempts"), (["-A", "x"], "-H 'User-Agent: NAME'"),
    (["-C", "5"], "only -"), (["--data", "a=b"], "--data-binary"), (["-d", "a=b"], "--data-binary"),
    (["-O", "-o", "b"], "--output"), (["-r", "0-5"], "whole"), (["-v"], "backhaul why"),
    (["--connect-timeout", "5"], "--request-timeout")])
def test_other_words_are_refused_with_advice(backhaul, words, advice):
    assert advice in backhaul("get", *words, URL, code=2).stderr
    assert not backhaul.store.exists()
