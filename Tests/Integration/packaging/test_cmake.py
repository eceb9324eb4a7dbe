"""CMake's find_package finds an installation, and programs built with it find the library."""

import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
LISTS = """
cmake_minimum_required(VERSION 3.16)
project(host C)
find_package(Backhaul {version} REQUIRED)
add_executable(photos "{source}")
target_link_libraries(photos Backhaul::Backhaul)
"""


@pytest.fixture(scope="module", params=["prefix", "a prefix"])
def prefix(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed") / request.param
    subprocess.run(["make", "install", f"PREFIX={folder}"], cwd=PROJECT, check=True, capture_output=True)
    return folder


def configure(folder, prefix, version):
    source = folder / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(LISTS.format(version=version, source=PROJECT / "examples/c/photos.c"))
    return subprocess.run(["cmake", "-S", source, "-B", folder / "built", f"-DCMAKE_PREFIX_PATH={prefix}",
                           "-DCMAKE_C_COMPILER=clang"], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("is_link", [False, True], ids=["folder", "link"])
def test_a_program_built_with_cmake_finds_the_library_in_any_folder_and_through_a_link_to_lib(
        prefix, tmp_path, is_link):
    """In Debian, /lib is a link to /usr/lib, and CMake may find /lib first."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "lib").symlink_to(prefix / "lib")
    configured = configure(tmp_path, root if is_link else prefix, "1.0")
    assert configured.returncode == 0, configured.stdout + configured.stderr
    subprocess.run(["cmake", "--build", tmp_path / "built"], check=True, capture_output=True)
    usage = subprocess.run([tmp_path / "built" / "photos"], env={}, capture_output=True, text=True, check=False)
    assert (usage.returncode, usage.stderr) == (2, "usage: photos STORE [LIST]\n")


@pytest.mark.parametrize("version", ["0.9", "1.99", "2.0"])
def test_cmake_refuses_an_older_library_and_one_with_another_major_version(prefix, tmp_path, version):
    configured = configure(tmp_path, prefix, version)
    assert configured.returncode != 0
    assert "compatible with requested version" in configured.stderr
