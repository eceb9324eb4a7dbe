"""The programs of the start pages, and the loop of the guide about event loops, do what the pages say: they are killed
in the middle of a download, the download continues, and the next run reads the events. If a download fails, the
programs of the start pages exit with 1.

In place of the server of the pages, the test uses a server that pauses in the middle of the file.
"""

import re
import subprocess
import sys

import pytest
from killed_host import KilledHost

from .blocks import PROJECT, blocks
from .swift_package import build, manifest

LIBRARIES = PROJECT / "build" / "lib"


def program(page, language, part):
    return next(block.text for block in blocks(language, f"docs/{page}.md") if part in block.text)


def c_host(folder, page="start/c"):
    source, made = folder / "fetch.c", folder / "fetch"
    source.write_text(program(page, "c", "int main("))
    subprocess.run(["clang", "-Wall", "-Werror", "-I", PROJECT / "include", source, "-o", made, "-L", LIBRARIES,
                    "-lbackhaul", f"-Wl,-rpath,{LIBRARIES}"], check=True)
    return [made]


def python_host(folder):
    source = folder / "fetch.py"
    source.write_text(program("start/python", "python", "session.download("))
    return [sys.executable, "-W", "error", source]


def swift_host(folder):
    return [build(folder, manifest(), {"main.swift": program("start/swift", "swift", "import Backhaul\n")})]


@pytest.mark.parametrize("make_host", [c_host, python_host, swift_host])
def test_a_killed_program_finds_its_file_at_the_next_run_and_exits_with_1_after_a_failure(
        make_host, request, tmp_path, home, server, served):
    if make_host is swift_host and not request.config.getoption("--site"):
        pytest.skip("make site-test builds this program")
    command, mine = make_host(tmp_path), home / "large.bin"
    host = KilledHost([*command, f"{server.url}/large.bin", mine], home)
    host.kill(server.is_paused)
    server.release()
    assert f"complete: {mine}" in host()
    assert mine.read_bytes() == served.read_bytes()
    assert "failed: " in KilledHost([*command, f"{server.url}/no-such-file", home / "nothing"], home)(status=1)


def test_the_program_that_lists_the_tasks_shows_the_download_of_a_killed_program(tmp_path, home, server):
    host = KilledHost([*python_host(tmp_path), f"{server.url}/large.bin", home / "large.bin"], home)
    host.kill(server.is_paused)
    listing = tmp_path / "list.py"
    listing.write_text(program("start/python", "python", "list.py"))
    assert f"bytes of {server.url}/large.bin" in KilledHost([sys.executable, "-W", "error", listing], home)()


def test_the_commands_of_the_shell_page_do_what_the_page_says(home, server, served):
    def script(part):
        text = program("start/shell", "sh", part).replace("http://127.0.0.1:8764", server.url)
        text = re.sub(r"^python3 -m http.server .*$|^kill %1$", "", text, flags=re.MULTILINE)
        return text.replace("timeout -s KILL 5 ", "exec ").replace("head -c 20000000 /dev/urandom", f"cat {served}")

    def run(*parts):
        return KilledHost(["sh", "-euc", "\n".join(["cd ~/try-backhaul 2>/dev/null || cd", *map(script, parts)])], home)

    run("http.server")()
    run("backhaul get").kill(server.is_paused)
    tasks = run("backhaul tasks")
    assert "large.bin" in tasks()
    server.release()
    assert "the file is complete" in run("backhaul wait\ncmp")()
    assert "a transfer failed: 1" in run("no-such-file")()
    twice = run("#!/bin/sh")
    assert "large.bin" in twice() + twice()
    run("rm -r")()
    assert not list(home.glob("try-backhaul"))


def test_a_killed_program_with_the_event_loop_of_the_guide_reads_its_event_at_the_next_run(
        tmp_path, home, server, served):
    mine = home / "large.bin"
    host = KilledHost([*c_host(tmp_path, "guides/event-loops"), f"{server.url}/large.bin", mine], home)
    host.kill(server.is_paused)
    server.release()
    assert str(mine) in host().splitlines()
    assert mine.read_bytes() == served.read_bytes()
