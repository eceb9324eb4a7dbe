// Programs that the library starts. The library does it in two steps of its own (Sources/CLinux/detached.h), which are
// replaced here: the program is a new simulated process, with the environment that it was given.

#define _GNU_SOURCE
#include "simulated.h"
#include <detached.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*start_program)(const char *const *arguments);
static char **environments[SIM_PROCESSES + 1];

void sim_set_start(int (*start)(const char *const *arguments)) { start_program = start; }

static char **copy_list(char *const *list) {
    size_t count = 0;
    while (list[count]) count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) copy[i] = strdup(list[i]);
    return copy;
}

// Called for the intermediate process, which would start the program and end.
int clone(int (*body)(void *), void *stack, int flags, void *argument, ...) {
    (void)body, (void)stack, (void)flags;
    struct bhl_detached *start = argument;
    int process = start_program((const char *const *)start->arguments);
    environments[process] = copy_list(start->environment);
    start->process = sim_process_number(process);
    start->descriptor = sim_pidfd_open(start->process);
    start->step = BHL_STEP_PROGRAM;
    return start->process;
}

char *getenv(const char *name) {
    char **list = sim_is_simulated() ? environments[sim_process()] : NULL;
    size_t size = strlen(name);
    // A planted fault has an effect in each process.
    if (!list || !strcmp(name, "BACKHAUL_PLANTED")) return REAL(getenv)(name);
    for (; *list; list++)
        if (!strncmp(*list, name, size) && (*list)[size] == '=') return *list + size + 1;
    return NULL;
}

char *secure_getenv(const char *name) { return getenv(name); }

// A process that ends. `sim_end_run` ends the process of the system.
void _exit(int status) {
    if (sim_is_simulated() && sim_process()) sim_exit();
    sim_end_run(status);
}

void sim_end_run(int status) {
    for (;;) REAL(syscall)(SYS_exit_group, status);
}
