"""The files of packaging/debian fit what `make install` installs. `make packages-test` installs the packages."""

import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
DEBIAN = PROJECT / "packaging" / "debian"


def paragraphs():
    """Returns the fields of each paragraph of debian/control."""
    text = (DEBIAN / "control").read_text()
    return [dict(re.findall(r"^([\w-]+): (.*(?:\n .*)*)", paragraph, re.MULTILINE)) for paragraph in text.split("\n\n")]


def patterns():
    """Maps each package to regular expressions for the files in it."""
    return {path.stem: [re.compile(line.replace("*", "[^/]+") + "(/|$)") for line in path.read_text().splitlines()]
            for path in DEBIAN.glob("*.install")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    place = tmp_path_factory.mktemp("place")
    subprocess.run(["make", "install", "PREFIX=/usr", "LIBDIR=/usr/lib/some-linux-gnu", f"DESTDIR={place}"],
                   cwd=PROJECT, check=True, capture_output=True)
    return [str(path.relative_to(place)) for path in place.rglob("*") if not path.is_dir()]


def test_each_installed_file_is_in_exactly_one_package(installed):
    owners = {file: [package for package, expressions in patterns().items()
                     if any(expression.match(file) for expression in expressions)] for file in installed}
    assert {file: packages for file, packages in owners.items() if len(packages) != 1} == {}


def test_each_pattern_matches_an_installed_file(installed):
    """dh_install fails without a match. `debian/rules` installs the Python package itself."""
    unused = [expression.pattern for package, expressions in patterns().items() if package != "python3-backhaul"
              for expression in expressions if not any(expression.match(file) for file in installed)]
    assert unused == []


@pytest.mark.parametrize("file, package", [
    ("usr/lib/some-linux-gnu/libbackhaul.so.1", "libbackhaul1"), ("usr/lib/some-linux-gnu/libbackhaul.so",
                                                                  "libbackhaul-dev"),
    ("usr/include/backhaul.h", "libbackhaul-dev"), ("usr/libexec/backhaul/backhauld", "backhaul")])
def test_a_file_is_in_the_package_in_which_debian_expects_it(installed, file, package):
    assert file in installed
    assert any(expression.match(file) for expression in patterns()[package])


def test_each_package_of_the_control_file_has_a_list_of_its_files_and_a_description():
    source, *packages = paragraphs()
    assert source["Source"] == "backhaul"
    assert {package["Package"] for package in packages} == set(patterns())
    assert all("\n" in package["Description"] and "${misc:Depends}" in package["Depends"] for package in packages)


def release(folder, tag, changelog):
    """Makes a repository with a tagged commit, and returns the exit status of the check of its version."""
    (folder / "packaging").mkdir()
    (folder / "packaging" / "check-version").write_bytes((PROJECT / "packaging" / "check-version").read_bytes())
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n{changelog}\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["tag", tag]):
        subprocess.run(["git", *identity, *words], cwd=folder, check=True)
    return subprocess.run(["sh", folder / "packaging" / "check-version", "1.2.3"], capture_output=True, text=True,
                          check=False)


@pytest.mark.parametrize("tag, changelog, reason", [
    ("v1.2.4", "## [1.2.3] - 2030-01-02", "The tag of this commit is v1.2.4, but the version"),
    ("v1.2.3", "## [Unreleased]", "CHANGELOG.md has no line '## [1.2.3] - DATE'"),
    ("v1.2.3", "## [1.2.3] - 2030-01-02", ""), ("other", "## [Unreleased]", "")])
def test_a_tag_of_a_release_must_have_the_version_of_the_header_and_a_date_in_the_changelog(
        tmp_path, tag, changelog, reason):
    checked = release(tmp_path, tag, changelog)
    assert (checked.returncode != 0) == bool(reason)
    assert reason in checked.stderr


@pytest.fixture
def maintainer_script(tmp_path):
    """Returns a function that runs a script of the package `backhaul` with fakes of the tools, in a system where
    systemd runs. The result is the commands that the script ran."""
    log = tmp_path / "log"
    for tool in ("systemctl", "deb-systemd-invoke", "deb-systemd-helper"):
        (tmp_path / tool).write_text(f'#!/bin/sh\necho "{tool} $*" >>"{log}"\n')
        (tmp_path / tool).chmod(0o755)

    def run(name, *words):
        log.write_text("")
        text = (DEBIAN / f"backhaul.{name}").read_text().replace("/run/systemd/system", str(tmp_path))
        subprocess.run(["sh", "-c", text, name, *words], check=True, env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
        return log.read_text().splitlines()

    return run


def test_an_upgrade_reloads_the_unit_of_the_worker_and_restarts_it_only_if_it_runs(maintainer_script):
    assert maintainer_script("prerm", "upgrade", "1.1") == []
    assert maintainer_script("postinst", "configure", "1.0")[-2:] == [
        "systemctl --system daemon-reload", "deb-systemd-invoke try-restart backhaul-worker.service"]


def test_an_installation_starts_no_worker(maintainer_script):
    assert maintainer_script("postinst", "configure", "")[-1] == "systemctl --system daemon-reload"


def test_a_removal_stops_the_worker_and_a_purge_forgets_that_it_was_enabled(maintainer_script):
    assert maintainer_script("prerm", "remove") == ["deb-systemd-invoke stop backhaul-worker.service"]
    assert maintainer_script("postrm", "remove") == ["systemctl --system daemon-reload"]
    assert maintainer_script("postrm", "purge") == ["deb-systemd-helper purge backhaul-worker.service"]
