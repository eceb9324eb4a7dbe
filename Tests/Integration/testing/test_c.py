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
    bh_status status = bht_wait_for_success(host, 60000, &error);
    printf("%d %s", status == BH_WRONG_STATE && bht_wait(host, 60000, &code, &error) == status, error.message);
    bht_close(testbed);
    return 0;
}
"""


#: Two threads wait for a host, and a third kills it. Then threads wait in all ways, and the testbed is closed.
WAITS = """
#include <backhaul_testing.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static bht_testbed *testbed;
static bht_resource *resource;
static bht_host *host;
static _Atomic pid_t waiting[5];
static int is_asleep(pid_t thread) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    const char *name = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    fclose(file);
    return name && name[2] == 'S';
}
static void *wait_for(void *way) {
    bh_error error = {.struct_size = sizeof error};
    bht_launch_request request = {.struct_size = sizeof request};
    waiting[(size_t)way] = gettid();
    switch ((int)(size_t)way) {
    case 0: return (void *)(size_t)bht_wait_for_death(testbed, 60000, &error);
    case 1: return (void *)(size_t)bht_take_launch(testbed, 60000, &request, &error);
    case 2: return (void *)(size_t)bht_wait_for_bytes(resource, 1, 60000, &error);
    case 3: return (void *)(size_t)bht_wait_for_requests(resource, 1, 60000, &error);
    default: return (void *)(size_t)bht_wait(host, 60000, NULL, &error);
    }
}
static void *wait_for_code(void *argument) {
    bh_error error = {.struct_size = sizeof error};
    int32_t code = 0;
    (void)argument;
    return (void *)(size_t)(bht_wait(host, 60000, &code, &error) ? 0 : code);
}
int main(void) {
    const char *const words[] = {"/bin/sleep", "1000"};
    bh_error error = {.struct_size = sizeof error};
    pthread_t threads[5];
    void *result;
    if (bht_open(NULL, &testbed, &error) || bht_serve(testbed, "/a", "a", 1, &resource, &error) ||
        bht_start(testbed, words, 2, &host, &error)) return 2;
    for (size_t i = 0; i < 5; i++) pthread_create(&threads[i], NULL, wait_for_code, NULL);
    bht_kill(host);
    for (size_t i = 0; i < 5; i++) {
        pthread_join(threads[i], &result);
        printf("%zu ", (size_t)result);
    }
    printf("%zu\\n", (size_t)wait_for_code(NULL));
    if (bht_start(testbed, words, 2, &host, &error)) return 2;
    for (size_t i = 0; i < 5; i++) pthread_create(&threads[i], NULL, wait_for, (void *)i);
    for (size_t i = 0; i < 5; i++) while (!waiting[i] || !is_asleep(waiting[i])) sched_yield();
    bht_close(testbed);
    for (size_t i = 0; i < 5; i++) {
        pthread_join(threads[i], &result);
        printf("%d ", (size_t)result == BH_INVALID_HANDLE);
    }
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


def test_all_waits_get_the_end_of_a_host_and_of_the_testbed(tmp_path):
    (tmp_path / "waits.c").write_text(WAITS)
    ran = subprocess.run(
        [build(tmp_path / "waits.c", tmp_path / "waits")], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout.split()) == (0, ["137"] * 6 + ["1"] * 5), ran.stdout + ran.stderr


@pytest.mark.story
def test_killed_finished_launched_401_launched_again_completed(story):
    ran = subprocess.run([story], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
