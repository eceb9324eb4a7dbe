"""The same commit gives the same packages: in the same checkout, and in a second one in another folder."""

import os
import subprocess

import pytest
from roots import PACKAGES, PROJECT, output


def sums():
    return (PACKAGES / "SHA256SUMS").read_text()


def test_a_second_run_makes_the_same_bytes():
    before = sums()
    output("make", "packages", cwd=PROJECT)
    assert sums() == before


def test_a_second_checkout_makes_the_same_bytes(tmp_path):
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=PROJECT, capture_output=True, text=True, check=True)
    if changed.stdout:
        pytest.skip("the checkout has changes that are not committed")
    clone = tmp_path / "clone"
    output("git", "clone", "--quiet", PROJECT, clone)
    # The tests' environment names the library of this checkout, and the clone's programs must load the clone's library.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BACKHAUL_")}
    output("make", "packages", cwd=clone, env=environment)
    assert (clone / "build" / "packages" / "SHA256SUMS").read_text() == sums()
