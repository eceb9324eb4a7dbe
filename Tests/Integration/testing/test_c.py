"""The story of test_story.py in C."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
LIBRARY = Path(os.environ["BACKHAUL_LIBRARY"]).resolve()


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """The program of story.c, linked with the library and the kit."""
    program = tmp_path_factory.mktemp("story") / "story"
    subprocess.run(
        ["clang", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-D_GNU_SOURCE", f"-I{PROJECT}/include",
         "-o", program, HERE / "story.c", LIBRARY, LIBRARY.with_name("libbackhaul_testing.so.1"),
         f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    return program


@pytest.mark.story
def test_killed_finished_launched_401_launched_again_completed(story):
    ran = subprocess.run([story], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
