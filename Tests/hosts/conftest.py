"""What the host tests stand on: a store on a real disk, the two servers, and hosts that are surely ended."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bindings" / "python" / "src"), str(ROOT / "Tests")]
os.environ.setdefault("BACKHAUL_LIBRARY", str(ROOT / "build" / "lib" / "libbackhaul.so.0"))
# Hosts are started with the same paths.
os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])

from backhaul import Hosting  # noqa: E402
from daemons import end_daemons  # noqa: E402
from hosts.host import Host  # noqa: E402
from servers.certificates import make_certificates  # noqa: E402
from servers.content import mixed_sizes, write_files  # noqa: E402
from servers.misbehaving import MisbehavingServer  # noqa: E402
from servers.nginx import Nginx  # noqa: E402


def _make_place(name):
    # Not the system's temporary directory: that may be memory, which syncs at no cost and is never full.
    places = ROOT / "build" / "places"
    places.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=places))


@pytest.fixture(scope="session")
def library():
    """The path of the library under test."""
    return Path(os.environ["BACKHAUL_LIBRARY"])


@contextmanager
def new_place():
    """An empty directory on a real disk; no daemon of a store in it outlives the context."""
    made = _make_place("test")
    yield made
    end_daemons(made)
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def place():
    """An empty directory on a real disk."""
    with new_place() as made:
        yield made


@pytest.fixture
def store(place, library):
    """Path of a store that does not exist yet."""
    assert library.exists(), f"{library} is not built: run make"
    return place / "store"


@pytest.fixture
def downloads(place):
    """An empty directory to download into."""
    made = place / "downloads"
    made.mkdir()
    return made


@pytest.fixture
def hosting(request):
    """Where the test's engine runs: in its hosts, or for a test marked ``both_hostings`` in the daemon, too."""
    return getattr(request, "param", Hosting.EMBEDDED)


def pytest_addoption(parser):
    parser.addoption("--seams-size", type=int, default=160, help="MiB of the download that is cut again and again")


def pytest_configure(config):
    config.addinivalue_line("markers", "both_hostings: what it says holds for embedded hosting and for the daemon")


def pytest_generate_tests(metafunc):
    if "hosting" in metafunc.fixturenames and metafunc.definition.get_closest_marker("both_hostings"):
        metafunc.parametrize("hosting", [Hosting.EMBEDDED, Hosting.DAEMON], ids=["embedded", "daemon"], indirect=True)


@pytest.fixture
def host(store, hosting):
    """Starts hosts, opened on the test's store, and ends them after the test."""
    started = []

    def start(*, opened=True, **options):
        new = Host(store, **{"hosting": hosting, **options})
        started.append(new)
        return new.open() if opened else new

    yield start
    for one in started:
        one.end()


@pytest.fixture
def misbehaving():
    with MisbehavingServer() as server:
        yield server


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def served():
    """200 files of mixed sizes, and their digests."""
    folder = _make_place("served")
    yield write_files(folder, mixed_sizes(200, seed=1))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def nginx(served, certificates, tmp_path_factory):
    with Nginx(tmp_path_factory.mktemp("nginx"), served.folder, certificates) as running:
        yield running


@pytest.fixture(scope="session")
def debug_library():
    """The library with its test switches in; the Swift tests' build folder has most of it ready."""
    named = os.environ.get("BACKHAUL_DEBUG_LIBRARY")
    if named:
        return Path(named)
    swift = shutil.which("swift")
    if swift is None:
        pytest.skip("a debug build needs swift in PATH")
    build = [swift, "build", "--package-path", ROOT, "--scratch-path", ROOT / "build" / "swift" / "debug"]
    done = subprocess.run([*build, "--product", "BackhaulLibrary"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    shown = subprocess.run([*build, "--show-bin-path"], capture_output=True, text=True, check=True)
    return Path(shown.stdout.strip()) / "libBackhaulLibrary.so"
