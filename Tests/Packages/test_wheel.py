"""The wheel in a new virtual environment of a system without a compiler, and its metadata."""

import os
import zipfile
from email import message_from_bytes

from roots import PROJECT, output


def test_the_wheel_has_at_most_9_mb(wheel):
    assert wheel.stat().st_size <= 9_000_000


def test_auditwheel_finds_that_the_wheel_fits_the_platform_in_its_name(wheel):
    tools = PROJECT / "build" / "packages-venv" / "bin"
    shown = output(tools / "auditwheel", "show", wheel, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    platform = wheel.stem.split("-")[-1]
    assert platform.startswith("manylinux_2_")
    assert f'platform tag: "{platform}"' in " ".join(shown.split())


def test_the_metadata_names_the_version_and_the_program(wheel):
    with zipfile.ZipFile(wheel) as files:
        [folder] = {name.split("/")[0] for name in files.namelist() if ".dist-info/" in name}
        metadata = message_from_bytes(files.read(f"{folder}/METADATA"))
        assert {"backhaul/licences/libcurl", "backhaul/licences/libssl"} <= set(files.namelist())
        assert metadata["Version"] == wheel.name.split("-")[1]
        assert "backhaul = backhaul.__main__:main" in files.read(f"{folder}/entry_points.txt").decode()


def test_an_installed_wheel_works_without_a_compiler_and_without_a_library_of_the_system(layer, system, wheel):
    one = system(*layer("bookworm", "venv", "python3-venv"))
    [file] = one.add(wheel)
    one.sh(f"python3 -m venv venv; venv/bin/pip install -q --no-index {file}")
    assert "has the digest of the original" in one.sh("venv/bin/python -m backhaul demo")
    assert "has the digest of the original" in one.sh("venv/bin/backhaul demo")
    version = wheel.name.split("-")[1]
    assert one.sh("venv/bin/python -c 'import backhaul; print(backhaul.__version__, backhaul.version())'") == (
        f"{version} {version}\n")
    assert one.sh("venv/bin/backhaul --version") == f"backhaul {version}\n"


