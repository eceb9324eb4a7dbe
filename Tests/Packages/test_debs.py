"""The Debian packages in bare systems: hosts in each language, an upgrade, and the removal."""

import time

import pytest
from conftest import CONTENT
from roots import PROJECT, output

RELEASES = ["bookworm", "trixie"]
EXAMPLES = "/usr/share/doc/libbackhaul-dev/examples/c"
PYTHON_HOST = """
import sys
from backhaul import Application
with Application("org.example.test") as application:
    with application.session("test") as session:
        session.download(sys.argv[1], "/home/user/file", key="file")
        for event in session.events(timeout=60):
            event.acknowledge()
            if event.is_session_finished:
                session.complete()
                sys.exit(0)
sys.exit("no end")
"""
KIT_TEST = """
def test_a_file_arrives_although_the_daemon_dies(backhaul_testbed):
    file = backhaul_testbed.serve("/file", b"content")
    backhaul_testbed.kill_daemon(at=1)
    with backhaul_testbed.application("org.example.test") as application, application.session("s") as session:
        session.download(file.url, backhaul_testbed.directory / "file")
        assert next(event for event in session.events() if event.is_task_ended).succeeded
    assert backhaul_testbed.daemon_died
"""


@pytest.fixture(params=RELEASES)
def installed(request, layer, system, debs):
    """A system with all four packages."""
    return system(*layer(request.param, "debs", files=debs))


@pytest.fixture(params=RELEASES)
def compiling(request, layer, system, debs):
    """A system with a compiler and all four packages."""
    return system(*layer(request.param, "compiler", "gcc", "libc6-dev", "pkg-config", files=debs))


def downloaded(system, name="file"):
    return (system.root / "home" / "user" / name).read_bytes()


def test_the_command_line_downloads_a_file(installed, server):
    installed.sh(f"backhaul get {server.url}/file -o file")
    assert downloaded(installed) == CONTENT


def test_a_host_in_python_downloads_a_file_with_the_daemon_of_the_package(installed, server):
    (installed.root / "host.py").write_text(PYTHON_HOST)
    installed.sh(f"python3 /host.py {server.url}/file")
    assert downloaded(installed) == CONTENT


@pytest.mark.parametrize("release", RELEASES)
def test_the_python_package_needs_only_what_apt_installs_with_it(release, layer, system, debs):
    needed = [deb for deb in debs if not deb.name.startswith("libbackhaul-dev_")]
    alone = system(*layer(release, "python", files=needed))
    alone.sh("python3 -m backhaul demo")
    assert alone.sh("python3 -c 'import backhaul; print(backhaul.__version__)'") == alone.sh(
        "backhaul --version").split()[-1] + "\n"


@pytest.mark.parametrize("release", RELEASES)
def test_pytest_finds_the_fixture_of_the_test_kit(release, layer, system, debs):
    tested = system(*layer(release, "pytest", "python3-pytest", files=debs))
    tested.sh("mkdir tests")
    (tested.root / "home" / "user" / "tests" / "test_kit.py").write_text(KIT_TEST)
    tested.sh("python3 -m pytest -q -p no:cacheprovider tests")


def test_a_host_in_c_is_built_with_pkg_config_and_downloads_a_file(compiling, server):
    compiling.sh(f"gcc -o photos {EXAMPLES}/photos.c $(pkg-config --cflags --libs backhaul)")
    compiling.sh("mkdir files")
    (compiling.root / "list").write_text(f"{server.url}/file\t/home/user/files/file\n")
    compiling.sh("./photos /home/user/store /list")
    assert downloaded(compiling, "files/file") == CONTENT


def test_the_package_has_the_source_of_a_host_with_an_event_loop(compiling):
    compiling.sh(f"cd {EXAMPLES}; gcc -o ~/epoll epoll.c loop/transfers.c $(pkg-config --cflags --libs backhaul)")
    assert "usage: epoll URL FOLDER FILE" in compiling.sh("./epoll", code=2)


def newer(deb, folder):
    """Packs a package again, with a higher version."""
    unpacked = folder / deb.stem
    output("dpkg-deb", "--raw-extract", deb, unpacked)
    control = unpacked / "DEBIAN" / "control"
    version = deb.name.split("_")[1]
    control.write_text(control.read_text().replace(version, f"{version}+1"))
    output("dpkg-deb", "-Zgzip", "--root-owner-group", "--build", unpacked, folder / f"new-{deb.name}")
    return folder / f"new-{deb.name}"


def test_an_upgrade_does_not_disturb_a_running_download(installed, debs, pausing, tmp_path):
    packed = [newer(deb, tmp_path) for deb in debs]
    # The upgrade may take longer than a server may be silent by default. Then the daemon would repeat the request.
    installed.sh(f"backhaul add --request-timeout 3600 {pausing.url}/file -o file")
    while not pausing.is_paused():
        time.sleep(0.1)
    [daemon] = installed.processes("backhauld")
    installed.install(*installed.add(*packed))
    assert installed.processes("backhauld") == [daemon]
    pausing.release()
    installed.sh("backhaul wait")
    assert downloaded(installed) == CONTENT
    assert len(pausing.requests()) == 1


@pytest.mark.parametrize("release", RELEASES)
def test_a_purge_leaves_no_file(release, layer, system, debs):
    one = system(*layer(release, "python3", "python3", "libcurl4", "libuv1", "libsqlite3-0", "ca-certificates"))
    files = one.add(*debs)
    before = one.files()
    one.install(*files)
    assert {"usr/bin/backhaul", "usr/include/backhaul.h"} <= one.files() - before
    names = " ".join(deb.name.split("_")[0] for deb in debs)
    one.sh(f"apt-get -qy purge {names}", user=0)
    assert one.files() == before


@pytest.mark.parametrize("release", RELEASES)
def test_a_purge_removes_the_links_of_the_unit_of_the_worker_that_only_the_administrator_enables(
        release, layer, system, debs):
    one = system(*layer(release, "systemd", "systemd", files=debs))
    link = one.root / "etc/systemd/system/multi-user.target.wants/backhaul-worker.service"
    assert not link.is_symlink()
    one.sh("systemctl enable backhaul-worker.service", user=0)
    assert link.is_symlink()
    one.sh("apt-get -qy purge backhaul", user=0)
    assert not link.is_symlink()


def test_a_host_in_swift_depends_on_the_installed_package_by_path(layer, system, debs, server):
    """The compiler of this machine is mounted into the system."""
    compiling = system(*layer("bookworm", "swift", "g++", "pkg-config", "libncurses6", "libxml2", "libcurl4",
                              "libsqlite3-0", "git", "ca-certificates", files=debs))
    toolchain = output(PROJECT / "scripts" / "toolchain").strip()
    place = compiling.root / "toolchain"
    place.mkdir()
    output("mount", "--bind", toolchain, place)
    try:
        source = compiling.root / "home" / "user" / "host"
        (source / "Sources" / "host").mkdir(parents=True)
        (source / "Package.swift").write_text(SWIFT_PACKAGE)
        (source / "Sources" / "host" / "main.swift").write_text(SWIFT_HOST)
        compiling.sh("chown -R 1000:1000 /home/user/host", user=0)
        compiling.sh(f"cd host; PATH=$PATH:/toolchain/bin swift run host {server.url}/file")
    finally:
        output("umount", "--lazy", place)
    assert downloaded(compiling) == CONTENT


SWIFT_PACKAGE = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "host", dependencies: [.package(path: "/usr/share/backhaul/swift")],
    targets: [.executableTarget(name: "host", dependencies: [.product(name: "Backhaul", package: "swift")])])
"""
SWIFT_HOST = """
import Backhaul
let application = try await Application.open("org.example.test")
let session = try await application.createSession(SessionConfiguration(identifier: "test"))
try await session.enqueue([Request(url: CommandLine.arguments[1], destination: "/home/user/file")])
for try await event in session.events {
    guard case .sessionFinished = event else { continue }
    try await session.acknowledge(through: event)
    break
}
try await session.complete()
await application.close()
"""
