"""Compiles and runs the hosts whose code is in the README. The daemon is a separate process that runs the downloads.
Each host must fetch its file.

In the code the test replaces https://example.org by the URL of a server on loopback, and /home/me by a folder of the
test.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import swift_packages
from daemons import end_daemons
from killed_host import KilledHost
from pausing_server import PausingServer

PROJECT = Path(__file__).resolve().parents[3]
LIBRARIES = PROJECT / "build" / "lib"
PHOTO = bytes(range(256)) * 2000


def blocks(language, readme="README.md"):
    text = (PROJECT / readme).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)


def the_block(language):
    found = blocks(language)
    assert len(found) == 1, f"the README has {len(found)} {language} blocks; this test expects one"
    return found[0]


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    yield home
    end_daemons(home)


@pytest.fixture
def photo(tmp_path):
    """The file that the server sends."""
    photo = tmp_path / "served.jpg"
    photo.write_bytes(PHOTO)
    return photo


@pytest.fixture
def server(photo):
    server = PausingServer({"/photo.jpg": photo}, pause_at=len(PHOTO) // 2)
    yield server
    server.close()


@pytest.fixture
def localised(home, server):
    return lambda text: text.replace("https://example.org", server.url).replace("/home/me", str(home))


def run(*command, cwd=PROJECT):
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def shell_host(localised, tmp_path):
    return ["sh", "-euc", localised(the_block("sh"))]


def c_host(localised, tmp_path):
    source, program = tmp_path / "host.c", tmp_path / "host"
    source.write_text(localised(the_block("c")))
    run("clang", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", PROJECT / "include", source,
        "-o", program, "-L", LIBRARIES, "-lbackhaul", f"-Wl,-rpath,{LIBRARIES}")
    return [program]


def python_host(localised, tmp_path):
    return [sys.executable, "-W", "error", "-c", localised(the_block("python"))]


SWIFT_README = "bindings/swift/README.md"


def swift_manifests():
    """Maps the path of a dependency to the Package.swift of the Swift README that has this path."""
    manifests = [block for block in blocks("swift", SWIFT_README) if "import PackageDescription" in block]
    return {re.search(r'path: "(.*?)"', block)[1]: block for block in manifests if "URLSession" not in block}


def swift_program(text, tmp_path):
    package = tmp_path / "host"
    host = package / "Sources" / "photos" / "main.swift"
    host.parent.mkdir(parents=True, exist_ok=True)
    host.write_text(text)
    # The README's package is in a folder beside the checkout.
    manifest = swift_manifests()["../backhaul/bindings/swift"].replace("../backhaul", str(PROJECT))
    (package / "Package.swift").write_text(manifest)
    return [swift_packages.build(package) / "photos"]


def swift_host(localised, tmp_path):
    return swift_program(localised(the_block("swift")), tmp_path)


@pytest.mark.parametrize("make_host", [shell_host, c_host, python_host, swift_host])
def test_a_host_fetches_its_file_after_a_kill_and_fetches_it_again_if_the_file_has_changed(
        make_host, localised, tmp_path, home, server, photo):
    host = KilledHost(make_host(localised, tmp_path), home)
    mine = home / "photo.jpg"
    host.kill(server.is_paused)
    server.release()
    # When the killed host is started again, it finds the file, because the daemon has continued the download.
    assert str(mine) in host()
    first = [request.status for request in server.requests()]
    # If the daemon finished before the second start, this start has sent a conditional request.
    assert first in ([200], [200, 304])
    # The host has read the event of the download's end, so a further start sends a conditional request. The server
    # sends the file only if the file has changed.
    assert str(mine) in host()
    assert mine.read_bytes() == PHOTO
    photo.write_bytes(PHOTO[::-1])
    assert str(mine) in host()
    assert mine.read_bytes() == PHOTO[::-1]
    assert [request.status for request in server.requests()] == [*first, 304, 200]
    assert not list(home.glob(".*.part*")), "a part file is left"


def test_the_first_program_in_the_readme_of_the_swift_package_is_the_swift_host_of_the_readme():
    assert blocks("swift", SWIFT_README)[0] == the_block("swift")


def test_a_host_with_an_installed_library_differs_from_a_host_with_a_checkout_only_by_the_path_of_the_package():
    installed, checkout = swift_manifests().items()
    assert installed[1].replace(installed[0], checkout[0]) == checkout[1]


@pytest.mark.parametrize("place", ["share/backhaul/swift", "project/Backhaul"])
def test_the_swift_package_outside_of_a_checkout_has_the_same_products_and_needs_no_tests(tmp_path, place):
    """The first place is below the prefix of an installation, the second one is in another project."""
    folder = tmp_path / place
    shutil.copytree(PROJECT / "bindings" / "swift", folder, ignore=shutil.ignore_patterns("Tests", ".build"))

    def products(package):
        shown = subprocess.run(["swift", "package", "dump-package", "--package-path", package], capture_output=True,
                               text=True, check=True)
        found = json.loads(shown.stdout)
        return [product["name"] for product in found["products"]], {target["type"] for target in found["targets"]}

    names, kinds = products(folder)
    assert names == products(PROJECT / "bindings" / "swift")[0]
    assert kinds == {"regular", "system"}


def test_make_help_lists_each_make_command_of_the_readme():
    targets = set(re.findall(r"^\$ make(?: (\w+))?", "\n".join(blocks("console")), flags=re.M)) - {""}
    assert targets
    help_text = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert targets <= set(re.findall(r"make (\w+)", help_text))


def test_each_link_of_the_readme_points_to_an_existing_file():
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (PROJECT / target).exists(), target
