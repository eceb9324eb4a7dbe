// The programs that a daemon starts. The daemon starts a program of the kit in place of a launch command. This program
// reports the launch to the test, and the test starts the host.

#define _GNU_SOURCE
#include "preload.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// The arguments of this program are the launch command, so a launch of another program is not mistaken for one.
static char launcher[PATH_MAX];

static int (*real_execve)(const char *, char *const *, char *const *);

void find_functions(void) {
    const char *path = getenv("BACKHAUL_TESTBED_LAUNCHER");
    if (path && strlen(path) < sizeof launcher) strcpy(launcher, path);
    real_execve = REAL(execve);
}

// The child of a vfork calls this function, so it only makes system calls, and its memory is the stack.
int execve(const char *program, char *const arguments[], char *const environment[]) {
    if (!control) return REAL(execve)(program, arguments, environment);
    enum { MOST = 1024 };
    char *words[MOST];
    size_t count = 0;
    words[count++] = launcher;
    words[count++] = (char *)testbed;
    words[count++] = (char *)program;
    for (size_t i = 1; arguments[0] && arguments[i] && count < MOST - 1; i++) words[count++] = arguments[i];
    words[count] = NULL;
    // A program that is missing fails as it does without the kit.
    if (!*launcher || access(program, X_OK)) return real_execve(program, arguments, environment);
    return real_execve(launcher, words, environment);
}
