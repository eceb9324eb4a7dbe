"""`make install` installs files, programs find these files, and `make uninstall` removes the files."""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reference.c_man import Man
from schema import header
from servers import child

PROJECT = Path(__file__).resolve().parents[3]
EXAMPLE = PROJECT / "examples" / "c" / "photos.c"
FILES = {
    "bin/backhaul", "include/backhaul.h", "share/backhaul/module.modulemap", "lib/libbackhaul.so",
    "lib/libbackhaul.so.1", "lib/pkgconfig/backhaul.pc", "lib/cmake/Backhaul/BackhaulConfig.cmake",
    "libexec/backhaul/backhauld", "share/backhaul/swift/Package.swift", "include/backhaul_testing.h",
    "lib/libbackhaul_testing.so", "lib/libbackhaul_testing.so.1", "lib/backhaul/backhaul-testbed.so",
    "lib/backhaul/backhaul-launched", "lib/systemd/system/backhaul-worker.service",
    "share/man/man1/backhaul.1", "share/man/man5/backhaul.5", "share/man/man7/backhaul.7", "share/man/man8/backhauld.8",
    "share/bash-completion/completions/backhaul", "share/zsh/site-functions/_backhaul",
    "share/fish/vendor_completions.d/backhaul.fish",
    *(f"share/man/man3/{name}" for name in Man(header.read(), header.read(header.KIT)).texts()),
}
VERSION = "import backhaul; print(backhaul.version())"
#: Variables that name the built library. Without them a program must find the installed library.
BUILD_VARIABLES = {"BACKHAUL_LIBRARY", "BACKHAUL_COMMAND", "LD_LIBRARY_PATH"}
# Only processes of the test see what is written to these folders.
LAYERS = """
mount -t tmpfs tmpfs "$1"
for folder in /usr/local /etc /var/cache; do
    mkdir -p "$1$folder" "$1/work$folder"
    mount -t overlay -o "lowerdir=$folder,upperdir=$1$folder,workdir=$1/work$folder" overlay $folder
done
echo
exec sleep infinity
"""


def output(*command, **options):
    ended = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def make(target, *variables, **options):
    return output("make", target, *variables, cwd=PROJECT, **options)


def environment(**more):
    return {name: value for name, value in os.environ.items() if name not in BUILD_VARIABLES} | more


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture
def system(tmp_path):
    """Returns the first words of a command that runs a program. The program sees the files of this machine, but its
    changes disappear at the end of the test."""
    layers = tmp_path / "layers"
    layers.mkdir()
    keeper = child.start(["unshare", "--mount", "sh", "-euc", LAYERS, "sh", layers], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    try:
        if not keeper.stdout.readline():
            pytest.skip(f"needs root, for a separate namespace: {keeper.stderr.read().strip()}")
        yield ["nsenter", f"--mount=/proc/{keeper.pid}/ns/mnt", f"--wdns={PROJECT}"]
    finally:
        keeper.kill()
        keeper.communicate()


def test_programs_find_a_system_installation_at_once_and_uninstall_removes_it_completely(system, tmp_path):
    def run(*words):
        return output(*system, *words, env=environment(PYTHONPATH=str(PROJECT / "bindings" / "python" / "src")))

    def present():
        return run("find", "/usr/local"), run("sh", "-c", "/sbin/ldconfig -p | grep -c backhaul || true")

    before = present()
    run("make", "install")
    host = tmp_path / "photos"
    run("clang", EXAMPLE, "-I/usr/local/include", "-L/usr/local/lib", "-lbackhaul", "-o", host)
    asked = subprocess.run([*system, host], env=environment(), capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stderr) == (2, "usage: photos STORE [LIST]\n")
    version = run("/usr/local/bin/backhaul", "--version").split()[-1]
    assert run(sys.executable, "-c", VERSION).strip() == version
    run("make", "uninstall")
    assert present() == before


@pytest.fixture(params=["prefix", "a prefix"])
def prefix(request, tmp_path):
    """A folder that ld.so does not search. The name of the second folder has a blank."""
    return tmp_path / request.param


#: For tests that start the Swift compiler, which takes long. A path with a blank is the harder case.
WITH_BLANK = pytest.mark.parametrize("prefix", ["a prefix"], indirect=True)


def test_a_program_built_with_pkg_config_and_rpath_finds_the_library_in_any_folder(prefix, tmp_path):
    make("install", f"PREFIX={prefix}")
    variables = environment(PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    flags = shlex.split(output("pkg-config", "--cflags", "--libs", "backhaul", env=variables))
    program = tmp_path / "photos"
    output("clang", "-std=c11", "-Werror", EXAMPLE, "-o", program, *flags, "-Xlinker", "-rpath", "-Xlinker",
           prefix / "lib")
    usage = subprocess.run([program], env=variables, capture_output=True, text=True, check=False)
    assert (usage.returncode, usage.stderr) == (2, "usage: photos STORE [LIST]\n")
    version = output("pkg-config", "--modversion", "backhaul", env=variables).strip()
    assert version == output(prefix / "bin" / "backhaul", "--version", env=variables).split()[-1]


@pytest.mark.parametrize("folder", ["lib", "lib64", f"lib/{platform.machine()}-linux-gnu"])
def test_the_installed_daemon_finds_the_library_also_in_the_folder_of_an_architecture(prefix, folder):
    make("install", f"PREFIX={prefix}", f"LIBDIR={prefix}/{folder}")
    daemon = prefix / "libexec" / "backhaul" / "backhauld"
    found = f"libbackhaul.so.1 => {daemon.parent}/../../{folder}/libbackhaul.so.1 "
    assert found in output("ldd", daemon, env=environment())


@pytest.mark.parametrize("target", ["install", "uninstall"])
@pytest.mark.parametrize("given", ["folder", "./folder", "~/folder", ""])
def test_a_relative_prefix_is_refused(target, given):
    ended = subprocess.run(["make", "--no-print-directory", target, f"PREFIX={given}"], cwd=PROJECT,
                           capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert f"PREFIX is '{given}', a relative path; give an absolute path." in ended.stderr
    assert not (PROJECT / given / "bin" / "backhaul").exists()


@pytest.mark.parametrize("target", ["install", "uninstall"])
def test_a_prefix_with_a_slash_at_its_end_is_refused(tmp_path, target):
    ended = subprocess.run(["make", target, f"PREFIX={tmp_path}/", f"LIBDIR={tmp_path}/lib"], cwd=PROJECT,
                           capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert f"PREFIX is '{tmp_path}/'; leave out the slash at its end." in ended.stderr


def test_make_install_prints_how_programs_find_the_library_in_another_folder(prefix):
    printed = make("install", f"PREFIX={prefix}")
    folder = shlex.quote(f"{prefix}/lib")
    assert f"-Wl,-rpath,{folder}. " in printed and f"LD_LIBRARY_PATH={folder}, " in printed
    variables = environment(PYTHONPATH=str(PROJECT / "bindings" / "python" / "src"), LD_LIBRARY_PATH=f"{prefix}/lib")
    assert output(sys.executable, "-c", VERSION, env=variables)


def test_the_unit_of_the_worker_is_valid(prefix):
    make("install", f"PREFIX={prefix}")
    output("systemd-analyze", "verify", "--man=no", prefix / "lib" / "systemd" / "system" / "backhaul-worker.service")


@WITH_BLANK
def test_swift_can_import_the_installed_library(prefix, tmp_path):
    make("install", f"PREFIX={prefix}")
    source = tmp_path / "host.swift"
    source.write_text("import CBackhaul\nlet version: UInt32 = bh_version()\n")
    output("swiftc", "-typecheck", "-I", prefix / "share" / "backhaul", source)


def test_the_pkg_config_file_has_only_flags_that_the_swift_package_manager_accepts(prefix):
    make("install", f"PREFIX={prefix}")
    described = (prefix / "lib" / "pkgconfig" / "backhaul.pc").read_text()
    flags = [word for line in described.splitlines() if line.startswith(("Cflags:", "Libs:"))
             for word in shlex.split(line)[1:]]
    assert flags and all(flag.startswith(("-I", "-L", "-l")) for flag in flags)


PACKAGE = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "Other", targets: [
    .systemLibrary(name: "CBackhaul", path: "CBackhaul", pkgConfig: "backhaul"),
    .executableTarget(name: "other", dependencies: ["CBackhaul"], path: "other"),
    .testTarget(name: "OtherTests", dependencies: ["other"], path: "Tests"),
])
"""


@WITH_BLANK
def test_a_swift_package_with_tests_builds_beside_two_installations(system, prefix, tmp_path):
    def run(*words, **variables):
        return output(*system, *words, env=environment(**variables))

    run("make", "install", f"PREFIX={prefix}")
    run("make", "install")
    for name, text in {
        "Package.swift": PACKAGE, "CBackhaul/module.modulemap":
            'module CBackhaul [system] { header "shim.h" link "backhaul" export * }',
        "CBackhaul/shim.h": "#include <backhaul.h>", "other/main.swift": "import CBackhaul\nprint(bh_version() > 0)",
        "Tests/OtherTests.swift": "import Testing\n@Test func one() {}",
    }.items():
        path = tmp_path / "other package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    # The generated runner of the tests asks for a module that may not exist. Then clang reads all module maps that it
    # can find, also those that nothing imports.
    printed = run("swift", "build", "--build-tests", "--package-path", tmp_path / "other package",
                  PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"))
    assert "prohibited" not in printed and "warning" not in printed
    program = tmp_path / "other package" / ".build" / "debug" / "other"
    assert run(program, LD_LIBRARY_PATH=str(prefix / "lib")) == "true\n"


def setup_in(checkout):
    """Makes a checkout that has only the script scripts/setup. Returns the path of the script."""
    setup = checkout / "scripts" / "setup"
    setup.parent.mkdir(parents=True)
    shutil.copy(PROJECT / "scripts" / "setup", setup)
    return setup


def test_a_moved_checkout_builds_its_modules_again(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    setup = setup_in(before)
    for name in ("swift", "planted", "venv", "packages-venv", "lib"):
        (before / "build" / name).mkdir(parents=True)
    for _ in range(2):
        assert "before, so" not in output(setup, "build")
    assert (before / "build" / "swift").exists()
    before.rename(after)
    assert f"The checkout was at {before} before" in output(after / "scripts" / "setup", "build")
    assert {path.name for path in (after / "build").iterdir() if path.is_dir()} == {"lib"}


FAKE_PYTHON = """#!/bin/sh
case "$*" in
    --version) echo "Python {version}" ;;
    "-m venv "*) mkdir -p "$3/bin" && ln -s /bin/true "$3/bin/pip" ;;
esac
"""


def test_another_version_of_python_and_other_requirements_make_the_virtual_environment_again(tmp_path):
    setup, python = setup_in(tmp_path), tmp_path / "programs" / "python3"
    requirements = tmp_path / "docs" / "site" / "requirements.txt"
    for folder in (python.parent, requirements.parent):
        folder.mkdir(parents=True)

    def is_made(version, text):
        python.write_text(FAKE_PYTHON.format(version=version))
        python.chmod(0o755)
        requirements.write_text(text)
        return "Making a Python environment" in output(
            setup, "site", env=environment(PATH=f"{python.parent}:{os.environ['PATH']}"))

    assert is_made("3.11.2", "one==1\n") and not is_made("3.11.2", "one==1\n")
    assert is_made("3.13.5", "one==1\n") and not is_made("3.13.5", "one==1\n")
    assert is_made("3.13.5", "one==2\n")


def test_two_set_ups_at_a_time_install_no_package_without_the_policy_that_starts_no_server(tmp_path):
    policy, programs = tmp_path / "system" / "policy-rc.d", tmp_path / "programs"
    for folder in (policy.parent, programs):
        folder.mkdir()
    log = tmp_path / "log"
    for name, line in (("id", "echo 0"), ("dpkg-query", ":"), ("apt-get", f'sleep 0.5; ls "{policy}" >>"{log}" 2>&1')):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    running = []
    for name in ("one", "two"):
        setup = setup_in(tmp_path / name)
        setup.write_text(setup.read_text().replace("/usr/sbin/policy-rc.d", str(policy)))
        running.append(subprocess.Popen([setup, "build"], stdout=subprocess.DEVNULL,
                                        env=environment(PATH=f"{programs}:{os.environ['PATH']}")))
        time.sleep(0.2)
    assert [process.wait() for process in running] == [0, 0]
    assert log.read_text().splitlines() == [str(policy)] * 4
    assert not policy.exists()


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose path has a blank."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", "Package.swift", "Sources", "bindings", "include", "packaging"):
        (folder / name).symlink_to(PROJECT / name)
    return folder


def test_the_linker_gets_the_path_of_a_checkout_with_a_blank_as_one_word(checkout):
    printed = output("make", "--no-print-directory", "--dry-run", "build/lib/libbackhaul.so.1", cwd=checkout)
    [command] = [line for line in printed.splitlines() if line.startswith("swift build")]
    assert f"--version-script={checkout}/packaging/symbols.map" in shlex.split(command)


def test_the_packages_are_not_made_in_a_checkout_whose_path_has_a_blank(checkout):
    ended = subprocess.run(["make", "packages"], cwd=checkout, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert "refuses this; move the checkout to another folder." in ended.stderr


def test_uninstall_removes_a_folder_that_contains_only_the_installation(prefix):
    make("install", f"PREFIX={prefix}")
    make("uninstall", f"PREFIX={prefix}")
    assert not prefix.exists()


def test_uninstall_keeps_empty_folders_that_were_there_before_the_installation(prefix):
    """In Debian 13, /usr/local/libexec is a folder of the system."""
    (prefix / "libexec").mkdir(parents=True)
    for _ in range(2):
        make("install", f"PREFIX={prefix}")
    make("uninstall", f"PREFIX={prefix}")
    assert list(prefix.rglob("*")) == [prefix / "libexec"]


def test_an_installation_over_another_version_removes_the_files_that_only_the_other_version_had(prefix):
    make("install", f"PREFIX={prefix}")
    record = prefix / "share" / "backhaul" / "installed"
    old = prefix / "share" / "backhaul" / "old"
    old.touch()
    record.write_text(f"{record.read_text()}file {old.relative_to(prefix)}\n")
    make("install", f"PREFIX={prefix}")
    assert not old.exists() and str(old.relative_to(prefix)) not in record.read_text()


def test_uninstall_keeps_files_of_other_programs(prefix):
    others = {prefix / "bin" / "other", prefix / "lib" / "pkgconfig" / "other.pc"}
    for path in others:
        path.parent.mkdir(parents=True)
        path.touch()
    make("install", f"PREFIX={prefix}")
    make("uninstall", f"PREFIX={prefix}")
    assert {path for path in prefix.rglob("*") if not path.is_dir()} == others
    assert not (prefix / "include").exists()


def test_uninstalling_twice_is_no_error(prefix):
    for _ in range(2):
        make("uninstall", f"PREFIX={prefix}")


@pytest.fixture
def no_ldconfig(tmp_path):
    """Returns an environment with a fake ldconfig. Without arguments, it fails. Otherwise it only lists a folder."""
    program = tmp_path / "programs" / "ldconfig"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ $# -gt 0 ] || exit 1\necho "/usr/lib: (from a test)"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("action", ["install", "uninstall"])
@pytest.mark.parametrize("user, status", [(1000, 0), (0, 1)], ids=["user", "root"])
def test_for_a_user_who_cannot_run_ldconfig_the_command_for_root_is_printed(no_ldconfig, action, user, status):
    program = Path(no_ldconfig["PATH"].split(":")[0]) / "id"
    program.write_text(f"#!/bin/sh\necho {user}\n")
    program.chmod(0o755)
    ended = subprocess.run([PROJECT / "packaging" / "reload-ld", action, "/usr/lib"], env=no_ldconfig,
                           capture_output=True, text=True, check=False)
    assert ended.returncode == status
    assert ("Run this command: sudo ldconfig" in ended.stdout) == (user != 0)


def test_an_installation_with_destdir_is_below_destdir_and_does_not_change_the_system(tmp_path, no_ldconfig):
    place = tmp_path / "place"
    make("install", "PREFIX=/usr", f"DESTDIR={place}", env=no_ldconfig)
    listed = {line.split(" ", 2)[2] for line in output(PROJECT / "packaging" / "files").splitlines()}
    assert files_below(place) == {f"usr/{name}" for name in listed} and listed >= FILES
    described = (place / "usr/lib/pkgconfig/backhaul.pc").read_text()
    assert "prefix=/usr\n" in described
    make("uninstall", "PREFIX=/usr", f"DESTDIR={place}", env=no_ldconfig)
    assert files_below(place) == set()


def test_uninstall_with_destdir_keeps_the_empty_folders_of_other_programs(tmp_path):
    kept = {tmp_path / "etc", tmp_path / "usr", tmp_path / "usr/share", tmp_path / "usr/share/other"}
    for folder in sorted(kept):
        folder.mkdir()
    for action in ("install", "uninstall"):
        output(PROJECT / "packaging" / "place", action, "/usr", "/usr/lib", "1.0", tmp_path, cwd=PROJECT,
               input="file README.md share/doc/backhaul/README.md\nfile LICENSE lib/backhaul/LICENSE\n")
        assert (tmp_path / "usr/lib/backhaul").exists() == (action == "install")
    assert set(tmp_path.rglob("*")) == kept


@pytest.mark.parametrize("stage", [True, False], ids=["with_destdir", "without_destdir"])
def test_a_text_that_cannot_be_made_is_an_error_and_not_an_empty_file(tmp_path, stage):
    prefix, *destdir = ("/usr", tmp_path) if stage else (f"{tmp_path}/usr",)
    ended = subprocess.run([PROJECT / "packaging" / "place", "install", prefix, f"{prefix}/lib", "1.0", *destdir],
                           input="text packaging/absent.in lib/text\n", cwd=PROJECT, text=True, check=False)
    assert ended.returncode != 0
    assert not (tmp_path / "usr/lib/text").exists()


def test_uninstall_with_destdir_fails_if_the_names_of_the_manual_pages_are_not_known(tmp_path):
    for folder in ("packaging", "include"):
        shutil.copytree(PROJECT / folder, tmp_path / folder)
    shutil.copy(PROJECT / "Makefile", tmp_path)
    page = tmp_path / "place/usr/share/man/man1/backhaul.1"
    page.parent.mkdir(parents=True)
    page.touch()
    ended = subprocess.run(["make", "uninstall", "PREFIX=/usr", f"DESTDIR={tmp_path}/place"], cwd=tmp_path,
                           capture_output=True, text=True, check=False)
    assert ended.returncode != 0 and page.exists()
    assert "build/man has no pages, so the list of installed files would not be complete" in ended.stderr


def test_the_library_can_be_installed_into_a_folder_for_one_architecture(tmp_path):
    place = tmp_path / "place"
    make("install", "PREFIX=/usr", "LIBDIR=/usr/lib/x", f"DESTDIR={place}")
    assert "libdir=${prefix}/lib/x\n" in (place / "usr/lib/x/pkgconfig/backhaul.pc").read_text()
    # systemd searches for units in lib/systemd only.
    assert files_below(place / "usr/lib") == {
        name.removeprefix("lib/") if name.startswith("lib/systemd/") else f"x/{name.removeprefix('lib/')}"
        for name in FILES if name.startswith("lib/")} | {"x/cmake/Backhaul/BackhaulConfigVersion.cmake"}
