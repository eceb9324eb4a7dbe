"""Fixtures for all tests: paths, the library, a store on a real disk, two servers, and hosts, which end with their
test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PATHS = [str(ROOT / folder) for folder in ("bindings/python/src", "Tests/Support", "Tests/Integration", "scripts")]
# A folder with an __init__.py is a package. Integration/packaging has no __init__.py, because pytest itself needs
# another package with the name "packaging".
sys.path[:0] = PATHS
os.environ.setdefault("BACKHAUL_LIBRARY", str(ROOT / "build" / "lib" / "libbackhaul.so.1"))
# Hosts are separate processes, which import Python modules from the same folders as the tests.
os.environ["PYTHONPATH"] = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])
# If one of these variables is set, pytest compares unequal values element by element. For the bytes of a file, that
# takes hours.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)

from backhaul import Hosting  # noqa: E402
from servers.certificates import make_certificates  # noqa: E402
from servers.content import mixed_sizes, write_files  # noqa: E402
from servers.misbehaving import MisbehavingServer  # noqa: E402
from servers.nginx import Nginx  # noqa: E402
from testbed.calendar import Calendar  # noqa: E402
from testbed.host import Host  # noqa: E402
from testbed.network import Network, Unavailable  # noqa: E402
from testbed.work_dirs import make_place, new_place  # noqa: E402


@pytest.fixture(scope="session")
def library():
    """The path of the library under test."""
    return Path(os.environ["BACKHAUL_LIBRARY"])


@pytest.fixture
def program(library):
    """The path of backhauld."""
    path = library.parent.parent / "libexec" / "backhaul" / "backhauld"
    assert path.exists(), f"{path} is not built: run make"
    return path


@pytest.fixture
def place():
    """An empty directory on a real disk."""
    with new_place() as made:
        yield made


@pytest.fixture
def store(place, library):
    """The path of a store that does not exist yet."""
    assert library.exists(), f"{library} is not built: run make"
    return place / "store"


@pytest.fixture
def downloads(place):
    """An empty directory for downloads."""
    made = place / "downloads"
    made.mkdir()
    return made


@pytest.fixture
def hosting(request):
    """Where the test's engine (the part of the library that performs the transfers) runs. By default, the engine runs
    in the test's hosts. A test that is marked ``both_hostings`` runs a second time, with the daemon, which is a
    separate process."""
    return getattr(request, "param", Hosting.EMBEDDED)


def pytest_generate_tests(metafunc):
    if "hosting" in metafunc.fixturenames and metafunc.definition.get_closest_marker("both_hostings"):
        metafunc.parametrize("hosting", [Hosting.EMBEDDED, Hosting.DAEMON], ids=["embedded", "daemon"], indirect=True)


@pytest.fixture
def host(store, hosting):
    """A function that starts a host on the test's store. The fixture ends the hosts after the test."""
    started = []

    def start(*, opened=True, **options):
        new = Host(store, **{"hosting": hosting, **options})
        started.append(new)
        return new.open() if opened else new

    yield start
    for one in started:
        one.end()


@pytest.fixture
def one(host):
    """A host with the session "gallery"."""
    one = host()
    one.session()
    return one


@pytest.fixture
def misbehaving():
    with MisbehavingServer() as server:
        yield server


@pytest.fixture
def network():
    """Two network namespaces with a cable between them. Hosts run in the first namespace, and servers in the second."""
    try:
        made = Network()
    except Unavailable as reason:
        pytest.skip(f"no network can be made: {reason}")
    yield made
    made.end()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def served():
    """200 files of mixed sizes, and their digests."""
    folder = make_place("served")
    yield write_files(folder, mixed_sizes(200, seed=1))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def nginx(served, certificates, tmp_path_factory):
    with Nginx(tmp_path_factory.mktemp("nginx"), served.folder, certificates) as running:
        yield running


@pytest.fixture(scope="session")
def debug_library():
    """The debug library, which has settings for tests. It is built in the build folder of the Swift tests, because most
    of the needed files are already there."""
    named = os.environ.get("BACKHAUL_DEBUG_LIBRARY")
    if named:
        return Path(named)
    swift = shutil.which("swift")
    if swift is None:
        pytest.skip("a debug build needs swift in PATH")
    # With other options than `make unit-tests` has, all modules would be compiled again.
    build = [swift, "build", "--package-path", ROOT, "--scratch-path", ROOT / "build" / "swift" / "debug",
             "--disable-index-store", "-debug-info-format", "none"]
    done = subprocess.run([*build, "--product", "BackhaulLibrary"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    shown = subprocess.run([*build, "--show-bin-path"], capture_output=True, text=True, check=True)
    return Path(shown.stdout.strip()) / "libBackhaulLibrary.so"


@pytest.fixture
def calendar(place):
    """The calendar clock of hosts that use the debug library. Tests can set this clock."""
    return Calendar(place / "calendar")
