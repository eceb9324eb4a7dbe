"""The example in the header's first comment compiles and runs. The engine, which runs the download, is a separate
process or is embedded in the example. For an embedded engine, the tests add one line to the example."""

import os
import re
import signal
import subprocess
import textwrap

import pytest
from backhaul import Hosting
from daemons import end_daemons
from pausing_server import PausingServer
from test_programs import HEADER, WARNINGS
from testbed.host import until

FILE = bytes(range(256)) * 2000
WAIT = 120


def example():
    """Returns the program in the comment, without the margin of the comment."""
    text = HEADER.read_text(encoding="utf-8").split("*/", 1)[0]
    block = re.search(r"^ \* A complete host\n(.*?)^ \* How the processes communicate", text, flags=re.M | re.S)
    lines = [line.removeprefix(" *") for line in block.group(1).splitlines()]
    first = next(index for index, line in enumerate(lines) if "#include" in line)
    return textwrap.dedent("\n".join(lines[first:]).rstrip()) + "\n"


def with_hosting(program, hosting):
    if hosting is Hosting.DAEMON:
        return program
    line = 'options.identifier = "org.example.photos";\n'
    assert program.count(line) == 1
    return program.replace(line, line + "options.hosting = BH_HOSTING_EMBEDDED;\n")


@pytest.fixture
def server(tmp_path):
    (tmp_path / "served").write_bytes(FILE)
    server = PausingServer({"/file": tmp_path / "served"}, pause_at=len(FILE) // 2)
    yield server
    server.close()


@pytest.fixture
def start(library, hosting, place, store, downloads, server):
    """Returns a function that starts the example, by default with the same arguments."""
    source, program = place / "example.c", place / "example"
    source.write_text(with_hosting(example(), hosting), encoding="utf-8")
    compiled = subprocess.run(
        ["clang", "-std=c11", *WARNINGS, f"-I{HEADER.parent}", "-o", program, source, library,
         f"-Wl,-rpath,{library.parent}"], capture_output=True, text=True, check=False)
    assert not compiled.stderr and compiled.returncode == 0, compiled.stderr
    environment = {**os.environ, "BACKHAUL_STORE": str(store), "HOME": str(place)}
    started = []

    def start_one(path="/file"):
        command = [program, server.url + path, downloads / "file"]
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True))
        return started[-1]

    yield start_one
    for one in started:
        one.kill()
        one.communicate()
    end_daemons(place)


@pytest.mark.both_hostings
def test_the_example_downloads_a_file_and_a_second_run_reports_that_the_file_exists(start, server, downloads):
    server.release()
    host = start()
    output, messages = host.communicate(timeout=WAIT)
    assert (host.returncode, messages) == (0, "")
    assert output == f"{server.url}/file: {downloads / 'file'}\n"
    assert (downloads / "file").read_bytes() == FILE
    again = start()
    output, messages = again.communicate(timeout=WAIT)
    assert (again.returncode, output) == (1, "")
    assert messages.startswith("BH_DESTINATION_EXISTS: ")


@pytest.mark.both_hostings
def test_after_the_example_is_killed_a_second_run_completes_the_download(start, server, downloads):
    host = start()
    until(server.is_paused, bool)
    host.send_signal(signal.SIGKILL)
    host.wait(WAIT)
    assert not (downloads / "file").exists()
    again = start()
    server.release()
    output, messages = again.communicate(timeout=WAIT)
    assert (again.returncode, messages) == (0, "")
    assert output == f"{server.url}/file: {downloads / 'file'}\n"
    assert (downloads / "file").read_bytes() == FILE
    assert [path.name for path in downloads.iterdir()] == ["file"], "a part file is left"


def test_after_a_failed_download_the_example_exits_with_1(start, server):
    host = start("/absent")
    output, messages = host.communicate(timeout=WAIT)
    assert (host.returncode, messages) == (1, "")
    assert output == f"{server.url}/absent: the server responded with status 404\n"


def test_the_example_without_arguments_exits_with_2(start):
    host = start()
    command = [host.args[0]]
    assert subprocess.run(command, check=False, timeout=WAIT).returncode == 2
