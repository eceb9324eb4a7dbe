"""A program that follows Apple's guide to background networking. The program exits at once. The daemon, a separate
process, downloads the program's file, and then launches (starts) the program again."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from daemons import daemons_of, end, end_daemons
from examples.images_program import processes_with_home
from kill_and_resume import digest
from pausing_server import PausingServer
from testbed.host import until

PROJECT = Path(__file__).resolve().parents[3]
BUILD = PROJECT / "build"


@pytest.fixture(scope="module")
def program():
    scratch = BUILD / "swift" / "package"
    package = PROJECT / "examples" / "swift" / "background-guide"
    built = subprocess.run(["swift", "build", "--package-path", package, "--scratch-path", scratch],
                           capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return scratch / "debug" / "background-guide"


class Home:
    """The home directory of the program. The environment of each process of the program has this directory. So
    `processes` finds the processes by their environment."""

    def __init__(self, path):
        self.path, self.data = path, path / "data"
        self.environment = {**os.environ, "HOME": str(path), "XDG_STATE_HOME": str(path / "state"),
                            "XDG_DATA_HOME": str(self.data)}
        self.data.mkdir(parents=True)

    def processes(self):
        return processes_with_home(self.path)

    def files(self):
        return sorted(path.name for path in self.data.iterdir())


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    yield home
    end_daemons(home.path)
    for process in home.processes():
        end(process, signal.SIGKILL, time.monotonic() + 5)


@pytest.fixture
def server(tmp_path):
    report = tmp_path / "report.pdf"
    report.write_bytes(os.urandom(2_000_000))
    server = PausingServer({"/report.pdf": report}, pause_at=1_500_000)
    yield server
    server.close()


def test_the_program_exits_at_once_and_is_launched_when_its_file_has_arrived(program, home, server):
    started = subprocess.run([program, f"{server.url}/report.pdf"], env=home.environment, capture_output=True,
                             text=True, timeout=300, check=False)
    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")
    assert home.files() == [], "the file had arrived before the program ended"
    server.release()
    until(home.files, lambda files: files == ["report.pdf"])
    assert digest(home.data / "report.pdf") == digest(server.files["/report.pdf"])
    # When the events are acknowledged and the launch is completed, no work is left, and the daemon exits.
    until(home.processes, lambda processes: processes == [])
    assert [request.status for request in server.requests()] == [200]


def test_each_start_fetches_the_current_file_from_the_server(program, home, server):
    server.release()
    report = server.files["/report.pdf"]
    for size in (2_000_000, 1_000_000, 2_000_000):
        report.write_bytes(os.urandom(size))
        subprocess.run([program, f"{server.url}/report.pdf"], env=home.environment, check=True)
        until(home.processes, lambda processes: processes == [])
        assert digest(home.data / "report.pdf") == digest(report)


def test_after_the_daemon_was_killed_the_program_gets_its_file_in_each_of_two_starts(program, home, server):
    def start():
        subprocess.run([program, f"{server.url}/report.pdf"], env=home.environment, timeout=300, check=True)

    start()
    until(server.is_paused, bool)
    for daemon in daemons_of(home.path):
        end(daemon, signal.SIGKILL, time.monotonic() + 5)
    start()
    server.release()
    until(home.processes, lambda processes: processes == [])
    assert digest(home.data / "report.pdf") == digest(server.files["/report.pdf"])
    start()
    until(home.processes, lambda processes: processes == [])
    assert home.files() == ["report.pdf"]
    assert digest(home.data / "report.pdf") == digest(server.files["/report.pdf"])


def test_a_file_that_the_server_does_not_have_is_not_created(program, home, server):
    subprocess.run([program, f"{server.url}/absent.pdf"], env=home.environment, timeout=300, check=True)
    # The program was launched, got the error, completed the launch, and exited.
    until(home.processes, lambda processes: processes == [])
    assert home.files() == []


@pytest.mark.parametrize("arguments", [[], ["nonsense"]])
def test_the_background_guide_prints_its_usage_if_it_gets_no_url(program, home, arguments):
    asked = subprocess.run([program, *arguments], env=home.environment, capture_output=True, text=True, timeout=300,
                           check=False)
    assert (asked.returncode, asked.stderr) == (2, "usage: background-guide URL\n")
