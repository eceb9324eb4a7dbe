"""Lists of URLs (`--input`) that say more than a URL: indented options as in aria2's lists, and lines of JSON."""

import hashlib
import json
import time

import pytest

from servers.content import Content

pytestmark = pytest.mark.hosting("daemon")

CONTENT = Content(3)


def write(backhaul, text):
    (backhaul.here / "list").write_text(text)


def problems(ended):
    """The positions in the messages, with the messages."""
    lines = [line.removeprefix("backhaul: list:") for line in ended.stderr.splitlines() if "list:" in line]
    return {int(number): text for number, text in (line.split(": ", 1) for line in lines)}


def test_indented_lines_give_a_file_its_name_directory_checksum_and_headers(backhaul, server):
    url = server.serve("/a", CONTENT)
    (backhaul.here / "sub").mkdir()
    digest = CONTENT.sha256
    text = f"# files\n{url}\n  out=b\n\tdir=sub\n  checksum=sha-256={digest}\n  header=X-A: 1\n  # x\n  header=X-B: 2\n"
    write(backhaul, text)
    assert backhaul("get", "-i", "list").stdout == f"{backhaul.here}/sub/b\n"
    headers = server.log("/a")[0].headers
    assert (headers["x-a"], headers["x-b"]) == ("1", "2")
    write(backhaul, text.replace(digest, "0" * 64).replace("out=b", "out=c"))
    assert "CHECKSUM" in backhaul("get", "-i", "list", code=1).stderr


def test_a_line_of_json_gives_a_file_its_name_directory_checksum_size_and_headers(backhaul, server):
    url = server.serve("/a", CONTENT)
    (backhaul.here / "sub").mkdir()
    digest = hashlib.sha512(CONTENT.data).hexdigest()
    line = {"url": url, "output": "b\u00e9\U0001f600", "directory": "sub", "checksum": f"sha-512:{digest}", "size": 3,
            "headers": {"X-A": "1"}}
    write(backhaul, json.dumps(line) + "\n" + json.dumps({**line, "output": "c", "size": 4}))
    ended = backhaul("get", "-i", "list", code=1)
    assert ended.stdout == f"{backhaul.here}/sub/b\u00e9\U0001f600\n"
    assert server.log("/a")[0].headers["x-a"] == "1"
    assert "SIZE_MISMATCH" in ended.stderr


def test_a_header_of_a_line_replaces_the_header_of_the_command(backhaul, server):
    url = server.serve("/a", CONTENT)
    write(backhaul, f"{url}\n header=x-a: line\n")
    backhaul("get", "-i", "list", "-H", "X-A: command", "-H", "X-B: command")
    headers = server.log("/a")[0].headers
    assert (headers["x-a"], headers["x-b"]) == ("line", "command")


def test_wrong_lines_are_named_and_the_other_files_are_fetched(backhaul, serve):
    server = serve({"/1": b"1", "/2": b"2"})
    write(backhaul, "\n".join([
        "  out=first", f"{server.url}/1", "http://127.0.0.1:9/a", "  outt=a", "  dir=b", "http://127.0.0.1:9/b",
        "  checksum=md5=0", '{"url": "http://127.0.0.1:9/c", "outputt": "d"}', '{"url": "http://127.0.0.1:9/c",}',
        '{"output": "d"}', '{"url": 3}', '{"url": "http://127.0.0.1:9/d", "headers": {"A": 1}}', '["a"]',
        '{"url": "http://127.0.0.1:9/d", "size": 1.5}', "http://127.0.0.1:9/e", "  out={nmae}",
        '{"url": "http://127.0.0.1:9/f", "output": "{hots}"}',
        '{"url": "http://127.0.0.1:9/g", "headers": {"A b": ""}}',
        json.dumps({"url": f"{server.url}/2"}), '{"url": "ftp://127.0.0.1/a"}']))
    ended = backhaul("get", "-i", "list", code=2)
    expected = {
        1: "below no URL", 4: "did you mean 'out'?", 7: "sha-256:", 8: "did you mean 'output'?", 9: "no valid JSON",
        10: 'no "url"', 11: '"url" takes a text', 12: '"A" takes a text', 13: "no scheme", 14: "no whole number",
        16: "did you mean '{name}'?", 17: "did you mean '{host}'?", 18: "header",
        20: "the scheme ftp"}
    found = problems(ended)
    assert found.keys() == expected.keys()
    assert not [number for number, advice in expected.items() if advice not in found[number]], found
    assert [(backhaul.here / name).read_bytes() for name in "12"] == [b"1", b"2"]


def test_a_list_with_many_unsupported_urls_is_enqueued_in_a_short_time(backhaul):
    count = 10_000
    write(backhaul, "".join(f"http://127.0.0.1:9/{number}\nftp://127.0.0.1/{number}\n" for number in range(count)))
    began = time.monotonic()
    ended = backhaul("add", "--suspended", "-i", "list", code=2)
    assert time.monotonic() - began < 60
    assert len(ended.stdout.splitlines()) == len(problems(ended)) == count


def test_of_several_urls_in_one_line_the_first_is_used_and_a_note_says_so(backhaul, serve):
    server = serve({"/1": b"1"})
    write(backhaul, f"{server.url}/1\thttp://127.0.0.1:9/1\n  out=b\n")
    ended = backhaul("get", "-i", "list")
    assert "list:1: the first of 2 URLs is used" in ended.stderr
    assert (backhaul.here / "b").read_bytes() == b"1"


def test_a_url_in_place_of_a_list_is_refused_with_advice(backhaul):
    assert "give a URL as an argument" in backhaul("get", "-i", "http://127.0.0.1:9/a", code=2).stderr
