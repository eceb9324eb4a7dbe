"""The story of test_story.py in C."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
LIBRARY = Path(os.environ["BACKHAUL_LIBRARY"]).resolve()


#: A test that ignores SIGCHLD. The kernel throws away how its host has ended.
IGNORED = """
#include <backhaul_testing.h>
#include <signal.h>
#include <stdio.h>
int main(void) {
    const char *const words[] = {"/bin/false"};
    bht_testbed *testbed;
    bht_host *host;
    bh_error error = {.struct_size = sizeof error};
    int32_t code = 0;
    signal(SIGCHLD, SIG_IGN);
    if (bht_open(NULL, &testbed, &error) || bht_start(testbed, words, 1, &host, &error)) return 2;
    bh_status status = bht_wait_for_success(host, 10000, &error);
    printf("%d %s", status == BH_WRONG_STATE && bht_wait(host, 10000, &code, &error) == status, error.message);
    bht_close(testbed);
    return 0;
}
"""


def build(source, program):
    """Builds a program, linked with the library and the kit."""
    subprocess.run(
        ["clang", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-D_GNU_SOURCE", f"-I{PROJECT}/include",
         "-o", program, source, LIBRARY, LIBRARY.with_name("libbackhaul_testing.so.1"),
         f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    return program


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    return build(HERE / "story.c", tmp_path_factory.mktemp("story") / "story")


def test_if_the_test_ignores_sigchld_no_host_counts_as_successful(tmp_path):
    (tmp_path / "ignored.c").write_text(IGNORED)
    ran = subprocess.run(
        [build(tmp_path / "ignored.c", tmp_path / "ignored")], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0 and ran.stdout.startswith("1 the exit code of the host"), ran.stdout + ran.stderr


@pytest.mark.story
def test_killed_finished_launched_401_launched_again_completed(story):
    ran = subprocess.run([story], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
