"""Systems with the packages, for the tests of this folder. `make packages-test` runs them, as root."""

import os

import pytest
from pausing_server import PausingServer
from roots import PACKAGES, System, bare

#: The content of the file that hosts download.
CONTENT = os.urandom(3 << 20)


@pytest.fixture(scope="session", autouse=True)
def as_root():
    if os.geteuid() != 0:
        pytest.skip("chroot and mounts need root")


@pytest.fixture(scope="session")
def debs():
    return sorted(PACKAGES.glob("*.deb"))


@pytest.fixture(scope="session")
def tarball():
    return next(PACKAGES.glob("*.tar.xz"))


@pytest.fixture(scope="session")
def wheel():
    return next(PACKAGES.glob("*.whl"))


@pytest.fixture(scope="session")
def layer(tmp_path_factory):
    """Returns a function that prepares a system once. Its result is the folders for the systems of the tests."""
    made = {}

    def prepare(release, name, *packages, files=()):
        if (release, name) not in made:
            place = tmp_path_factory.mktemp(f"{release}-{name}")
            with System(place, bare(release)) as system:
                system.add_user()
                system.sh("apt-get -q update", user=0)
                system.install(*packages, *system.add(*files))
            made[release, name] = (place / "changes", bare(release))
        return made[release, name]

    return prepare


@pytest.fixture
def system(tmp_path):
    """Returns a function that starts a system from the folders of `layer`."""
    started = []

    def start(*lower):
        started.append(System(tmp_path / f"system{len(started)}", *lower).__enter__())
        return started[-1]

    yield start
    for one in started:
        one.__exit__()


@pytest.fixture
def server(tmp_path):
    """A server with the file /file, without a pause."""
    path = tmp_path / "served"
    path.write_bytes(CONTENT)
    with PausingServer({"/file": path}, len(CONTENT) + 1) as running:
        yield running


@pytest.fixture
def pausing(tmp_path):
    """A server that pauses in the middle of the file /file."""
    path = tmp_path / "served"
    path.write_bytes(CONTENT)
    with PausingServer({"/file": path}, len(CONTENT) // 2) as running:
        yield running
