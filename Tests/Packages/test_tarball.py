"""The tarball in bare systems: it brings all libraries that differ between distributions."""

import stat
import tarfile

import pytest
from conftest import CONTENT

#: The oldest system of Debian whose C library is new enough, and the newest one.
RELEASES = ["bookworm", "trixie"]
PREFIXES = ["/usr/local", "/opt/a prefix"]


@pytest.fixture(params=RELEASES)
def unpacked(request, layer, system, tarball):
    """A system without any library that Backhaul needs, except those of C and C++."""
    one = system(*layer(request.param, "plain", "xz-utils", "libstdc++6"))
    one.sh(f"tar -xf {one.add(tarball)[0]} -C /opt && mv /opt/backhaul-* /opt/unpacked", user=0)
    return one


@pytest.mark.parametrize("prefix", PREFIXES)
def test_an_installation_downloads_a_file_and_is_removed_completely(unpacked, server, prefix):
    before = unpacked.files()
    unpacked.sh(f"/opt/unpacked/install.sh --prefix '{prefix}'", user=0)
    unpacked.sh(f"'{prefix}/bin/backhaul' get {server.url}/file -o file")
    assert (unpacked.root / "home" / "user" / "file").read_bytes() == CONTENT
    daemons = unpacked.processes("backhauld")
    unpacked.end_processes()
    assert daemons
    unpacked.sh(f"/opt/unpacked/install.sh --uninstall --prefix '{prefix}'", user=0)
    assert unpacked.files() == before


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_unit_of_the_worker_names_the_installed_program(unpacked, prefix):
    unpacked.sh(f"/opt/unpacked/install.sh --prefix '{prefix}'", user=0)
    unit = unpacked.root / prefix[1:] / "lib/systemd/system/backhaul-worker.service"
    assert f'ExecStart="{prefix}/bin/backhaul" worker' in unit.read_text()
    assert stat.S_IMODE(unit.stat().st_mode) == 0o644


def test_each_user_may_read_each_file_and_only_root_may_change_it(tarball):
    with tarfile.open(tarball) as files:
        assert {member.mode for member in files if not member.issym()} == {0o644, 0o755}


def test_the_programs_also_run_where_the_tarball_was_unpacked(unpacked, server):
    unpacked.sh(f"/opt/unpacked/bin/backhaul get {server.url}/file -o file")
    assert (unpacked.root / "home" / "user" / "file").read_bytes() == CONTENT


@pytest.mark.parametrize("prefix", ["folder", "./folder", ""])
def test_a_relative_prefix_is_refused(unpacked, prefix):
    printed = unpacked.sh(f"/opt/unpacked/install.sh --prefix '{prefix}'", user=0, code=2)
    assert f"the prefix '{prefix}' is a relative path; give an absolute path" in printed


def test_an_error_names_the_remedy_if_the_user_may_not_write(unpacked):
    printed = unpacked.sh("/opt/unpacked/install.sh", code=1)
    assert "/usr/local is not writable for user; run this as root, or choose another --prefix" in printed


def test_a_system_with_an_older_c_library_is_refused_with_the_reason(layer, system, tarball):
    old = system(*layer("bullseye", "plain", "xz-utils", "libstdc++6"))
    old.sh(f"tar -xf {old.add(tarball)[0]} -C /opt && mv /opt/backhaul-* /opt/unpacked", user=0)
    before = old.files()
    printed = old.sh("/opt/unpacked/install.sh", user=0, code=1)
    assert "the C or C++ library is too old, it has no GLIBC" in printed
    assert old.files() == before
