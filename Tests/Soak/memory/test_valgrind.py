"""Runs hosts and engines under valgrind. The engine runs the transfers, either in the host or in a daemon. The hosts
have many descriptors, and the engines' stores have many request bodies.

The tests check that programs access memory only inside allocated blocks. With many files, a listing of a directory
fills the C library's buffer to its last byte. If a program then reads past the end of the last entry, valgrind
reports this.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from servers import child
from servers.certificates import make_certificates
from servers.nginx import Nginx

PROJECT = Path(__file__).resolve().parents[3]
#: The number of open descriptors. /proc/self/fd then has more entries than fit into the 32 KiB that readdir(3) reads
#: in one call.
DESCRIPTORS = 1_400
WRONG = 99
PATIENCE = 900
#: Uninitialised values are not reported. Optimised code compares a Swift enum together with its uninitialised padding,
#: but the padding does not change the result.
VALGRIND = ["valgrind", "--quiet", f"--error-exitcode={WRONG}", "--undef-value-errors=no", "--leak-check=no",
            "--num-callers=25"]


@pytest.fixture(scope="module", autouse=True)
def room_for_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * DESCRIPTORS + 1_000
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"a process may have {hard} descriptors only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "files").mkdir()
    (folder / "files" / "file").write_bytes(os.urandom(1 << 20))
    with Nginx(folder / "server", folder / "files", make_certificates(folder), logging=False) as nginx:
        yield nginx


@pytest.fixture(scope="module")
def stripped(tmp_path_factory):
    """Returns a folder with the library and the daemon without debug information: valgrind 3.19 stops when it reads the
    debug information of Swift 6.3. The names of functions stay."""
    folder = tmp_path_factory.mktemp("stripped")
    for built in ("lib/libbackhaul.so.1", "libexec/backhaul/backhauld"):
        subprocess.run(["strip", "--strip-debug", "-o", folder / Path(built).name, PROJECT / "build" / built],
                       check=True)
    (folder / "libbackhaul.so").symlink_to("libbackhaul.so.1")
    return folder


@pytest.fixture(scope="module")
def program(stripped, tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "many_bodies"
    # The debug information has DWARF version 4, because each version of valgrind can read this version.
    subprocess.run(["clang", "-std=c11", "-O1", "-gdwarf-4", "-Wall", "-Wextra", "-Werror", "-pedantic",
                    "-I", PROJECT / "include", "-o", path, Path(__file__).with_name("many_bodies.c"),
                    "-L", stripped, "-lbackhaul", f"-Wl,--disable-new-dtags,-rpath,{stripped}"], check=True)
    return path


@pytest.fixture
def many_bodies(program, nginx, tmp_path, request):
    """Returns a function that runs the host under valgrind in the mode `fill` or `use`."""
    bodies = request.config.getoption("--bodies")
    (tmp_path / "body").write_bytes(b"a small body")

    def run(mode, *daemon):
        log = tmp_path / f"{mode}.valgrind"
        host = subprocess.run(
            [*VALGRIND, f"--log-file={log}", program, mode, tmp_path / "store", tmp_path, f"{nginx.url}/file",
             str(DESCRIPTORS), str(bodies), *daemon], capture_output=True, text=True, timeout=PATIENCE, check=False)
        expect_no_report(log)
        assert host.returncode == 0, host.stderr
        if mode == "fill":
            assert len(os.listdir(tmp_path / "store" / "bodies")) == bodies

    yield run
    shutil.rmtree(tmp_path, ignore_errors=True)


# Valgrind 3.19 does not know ioctl_ns(2), which the engine calls when the kernel reports an event of a device.
UNKNOWN_IOCTL = re.compile(
    "Warning: noted but unhandled ioctl 0xb701|   This could cause spurious|   See README_MISSING_SYSCALL_OR_IOCTL")


def expect_no_report(log):
    # Lines that do not begin with "==PID==" are about debug information that valgrind does not know.
    lines = re.findall(r"^==\d+== (.*)", log.read_text(errors="replace"), flags=re.M)
    report = [line for line in lines if not UNKNOWN_IOCTL.match(line)]
    assert not report, "\n".join(report[:100])


class Daemon:
    """The store's daemon under valgrind, with inherited descriptors. ``with Daemon(program, folder, name): …``"""

    def __init__(self, program, folder, name):
        self.program, self.store, self.log = program, folder / "store", folder / f"{name}.valgrind"

    def __enter__(self):
        numbers = [os.open("/dev/null", os.O_RDONLY) for _ in range(DESCRIPTORS)]
        self.process = child.start([*VALGRIND, f"--log-file={self.log}", self.program, "--store", self.store,
                                    "--linger", "600000"], pass_fds=numbers)
        for number in numbers:
            os.close(number)
        deadline = time.monotonic() + PATIENCE
        while not (self.store / "engine.socket").exists():
            assert self.process.poll() is None and time.monotonic() < deadline, "the daemon does not listen"
            time.sleep(0.05)
        assert len(os.listdir(f"/proc/{self.process.pid}/fd")) > DESCRIPTORS

    def __exit__(self, *failure):
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(PATIENCE)
        finally:
            child.end(self.process)
        if failure[0] is None:
            expect_no_report(self.log)
            assert status == 0


def test_an_embedded_engine_accesses_only_its_own_memory(many_bodies):
    many_bodies("fill")
    many_bodies("use")


def test_a_daemon_and_its_hosts_access_only_their_own_memory(many_bodies, stripped, tmp_path):
    # If no engine ran, the host would start a daemon without valgrind. So the host gets the path of a daemon that does
    # not exist.
    for mode in ("fill", "use"):
        with Daemon(stripped / "backhauld", tmp_path, f"daemon-{mode}"):
            many_bodies(mode, "/no/such/program")
