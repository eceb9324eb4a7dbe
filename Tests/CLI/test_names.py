"""A URL determines the name of a file, but never the folder of the file."""

import os

import pytest

NAMES = {
    "/photo.jpg": "photo.jpg",
    "/a/b/photo.jpg": "photo.jpg",
    "/photo.jpg?size=1/2": "photo.jpg",
    "/photo.jpg#part/of": "photo.jpg",
    "/a%20b.txt": "a b.txt",
    "/gr%C3%BC%C3%9Fe": "grüße",
    "/": "index.html",
    "/folder/": "index.html",
    "/..%2F..%2Fetc%2Fpasswd": "passwd",
    "/a%2Fb": "b",
    "/%2E%2E": "index.html",
    "/%2e": "index.html",
    "/a%00b": "ab",
    "/a%0Ab%1B%5B2J": "ab[2J",
    "/%E2%80%AEgpj.exe": "gpj.exe",
    "/%FF%FE": "%FF%FE",
    "/100%": "100%",
    "/%zz": "%zz",
    "/-rf": "-rf",
    "/.profile": "profile",
    "/a:b%3Fc": "a_b_c",
    "/" + "n" * 300 + ".tar.gz": "n" * 252 + ".gz",
    "/" + "n" * 251 + ".gz": "n" * 251 + ".gz",
}


@pytest.mark.parametrize("path", NAMES)
def test_the_file_name_is_the_last_part_of_the_urls_path(backhaul, path):
    added = backhaul.json("add", "--suspended", f"http://127.0.0.1:9{path}")
    assert [os.path.split(task["destination"]) for task in added] == [(str(backhaul.here), NAMES[path])]


def test_the_file_of_a_url_without_a_path_has_the_name_index_html(backhaul):
    added = backhaul.json("add", "--suspended", "http://127.0.0.1:9")
    assert added[0]["destination"] == f"{backhaul.here}/index.html"


def test_a_file_with_a_hostile_name_stays_in_the_chosen_folder(backhaul, serve):
    server = serve({"/..%2F..%2Fescaped": b"x"})
    (backhaul.here / "files").mkdir()
    backhaul("get", "-d", "files", f"{server.url}/..%2F..%2Fescaped")
    assert os.listdir(backhaul.here / "files") == ["escaped"]
