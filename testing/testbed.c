// A testbed: its directory, the environment of its hosts, its daemon and its clock.

#define _GNU_SOURCE
#include "kit.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

// ---- The programs of the installation

// Finds a program beside this library, or where `make install` and the packages put it.
static bool find_program(const char *name, char path[PATH_MAX]) {
    static const char *const places[] = {"%s/%s", "%s/backhaul/%s", "%s/../libexec/backhaul/%s",
                                         "%s/../../libexec/backhaul/%s"};
    Dl_info info;
    char folder[PATH_MAX], tried[PATH_MAX];
    if (!dladdr((void *)(uintptr_t)bht_open, &info) || !realpath(info.dli_fname, folder)) return false;
    *strrchr(folder, '/') = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(tried, sizeof tried, places[i], folder, name);
        if (!access(tried, R_OK) && realpath(tried, path)) return true;
    }
    return false;
}

static bh_status find_programs(bht_testbed *testbed, const bht_options *options, bh_error *error) {
    const char *daemon = options && options->daemon ? options->daemon : getenv("BACKHAUL_DAEMON");
    if (daemon && *daemon) {
        if (access(daemon, X_OK) || !realpath(daemon, testbed->daemon))
            return bht_fail(error, BH_DAEMON_UNAVAILABLE, "the daemon %s cannot be used: %s", daemon, strerror(errno));
    } else if (!find_program("backhauld", testbed->daemon)) {
        return bht_fail(error, BH_DAEMON_UNAVAILABLE,
                        "backhauld is not beside the library of the kit; install it, or set BACKHAUL_DAEMON");
    }
    if (!find_program("backhaul-testbed.so", testbed->preload) || !find_program("backhaul-launched", testbed->launcher))
        return bht_fail(error, BH_DAEMON_UNAVAILABLE,
                        "backhaul-testbed.so or backhaul-launched is not beside the library of the kit; install the "
                        "whole kit");
    return BH_OK;
}

// ---- The directory

bool bht_write_file(const bht_testbed *testbed, const char *name, mode_t mode, const char *text) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", testbed->directory, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    bool is_written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return is_written;
}

// ld.so splits LD_PRELOAD at spaces and colons, and an apostrophe ends a word of the script below.
static bh_status check_paths(const bht_testbed *testbed, const char *parent, bh_error *error) {
    const char *programs[] = {testbed->daemon, testbed->launcher};
    if (strpbrk(parent, " :'"))
        return bht_fail(error, BH_INVALID_ARGUMENT,
                        "the testbed cannot be in %s, because of the space, colon or apostrophe; set TMPDIR or "
                        "the directory of bht_options",
                        parent);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strchr(programs[i], '\''))
            return bht_fail(error, BH_DAEMON_UNAVAILABLE, "%s cannot be used, because of the apostrophe", programs[i]);
    return BH_OK;
}

// The program that hosts start as the daemon. Hosts pass only some variables on to a daemon, so this script sets those
// of the kit.
static bool write_daemon(const bht_testbed *testbed) {
    char *text, link[PATH_MAX];
    snprintf(link, sizeof link, "%s/preload.so", testbed->directory);
    if (symlink(testbed->preload, link)) return false;
    if (asprintf(&text,
                 "#!/bin/sh\nexport LD_PRELOAD='%s' " CONTROL_VARIABLE "='%s' BACKHAUL_TESTBED_LAUNCHER='%s'\n"
                 "export BACKHAUL_SYS_ROOT='%s/sys' BACKHAUL_PROC_ROOT='%s/proc'\n"
                 "export DBUS_SYSTEM_BUS_ADDRESS='unix:path=%s/no-bus'\n"
                 "export no_proxy=" CONTROL_ADDRESS_TEXT " NO_PROXY=" CONTROL_ADDRESS_TEXT "\nexec '%s' \"$@\"\n",
                 link, testbed->directory, testbed->launcher, testbed->directory, testbed->directory,
                 testbed->directory, testbed->daemon) < 0)
        return false;
    bool is_written = bht_write_file(testbed, "backhauld", 0700, text);
    free(text);
    return is_written;
}

static bool map_control(bht_testbed *testbed) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/control", testbed->directory);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    // On a full disk, a page without a block would be a signal at its first use.
    if (file < 0 || (errno = posix_fallocate(file, 0, sizeof *testbed->control))) {
        if (file >= 0) close(file);
        return false;
    }
    void *page = mmap(NULL, sizeof *testbed->control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page == MAP_FAILED) return false;
    testbed->control = page;
    testbed->control->has_network = 1;
    testbed->control->test = getpid();
    return true;
}

static bool make_folders(const bht_testbed *testbed) {
    static const char *const names[] = {
        "run", "sys", "sys/class", "sys/class/power_supply", "sys/class/thermal", "sys/class/net", "proc"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", testbed->directory, names[i]);
        if (mkdir(path, 0700)) return false;
    }
    return true;
}

// The variables that lead a host and its daemon to the testbed. There is no user manager and no bus, so that the daemon
// is a process of the testbed, and so that nothing depends on the machine.
static bool make_environment(bht_testbed *testbed) {
    static const char *const variables[] = {
        "BACKHAUL_STORE=%s/store",
        "BACKHAUL_DAEMON=%s/backhauld",
        CONTROL_VARIABLE "=%s",
        "BACKHAUL_SYS_ROOT=%s/sys",
        "BACKHAUL_PROC_ROOT=%s/proc",
        "XDG_RUNTIME_DIR=%s/run",
        "DBUS_SESSION_BUS_ADDRESS=unix:path=%s/no-bus",
        "DBUS_SYSTEM_BUS_ADDRESS=unix:path=%s/no-bus",
        "no_proxy=" CONTROL_ADDRESS_TEXT,
        "NO_PROXY=" CONTROL_ADDRESS_TEXT,
    };
    size_t count = sizeof variables / sizeof *variables;
    if (!(testbed->environment = calloc(count + 1, sizeof *testbed->environment))) return false;
    for (size_t i = 0; i < count; i++) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-extra-args" // variables without a path
#pragma clang diagnostic ignored "-Wformat-nonliteral"
        if (asprintf(&testbed->environment[i], variables[i], testbed->directory) < 0) return false;
#pragma clang diagnostic pop
    }
    return true;
}

static const char *parent_directory(const bht_options *options) {
    const char *parent = options && options->directory ? options->directory : getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

static bool make_directory(bht_testbed *testbed, const char *parent) {
    snprintf(testbed->directory, sizeof testbed->directory, "%s/backhaul-XXXXXX", parent);
    if (!mkdtemp(testbed->directory)) {
        *testbed->directory = 0;
        return false;
    }
    snprintf(testbed->store, sizeof testbed->store, "%s/store", testbed->directory);
    testbed->launches = bht_listen_for_launches(testbed->directory);
    return make_folders(testbed) && bht_make_journal(testbed) && write_daemon(testbed) && map_control(testbed) &&
           make_environment(testbed) && testbed->launches >= 0 && testbed->closing >= 0;
}

// ---- The end

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static bht_testbed *open_testbeds;

// A test that exits in the middle leaves no host behind. A forked child of the test does not end the hosts.
static void end_all(void) {
    pthread_mutex_lock(&open_lock);
    for (bht_testbed *testbed = open_testbeds; testbed; testbed = testbed->next)
        if (testbed->control && testbed->control->test == getpid()) bht_kill_hosts(testbed);
    pthread_mutex_unlock(&open_lock);
}

static void add_open(bht_testbed *testbed) {
    static bool is_registered;
    pthread_mutex_lock(&open_lock);
    if (!is_registered) is_registered = !atexit(end_all);
    testbed->next = open_testbeds;
    open_testbeds = testbed;
    pthread_mutex_unlock(&open_lock);
}

static void remove_open(const bht_testbed *testbed) {
    pthread_mutex_lock(&open_lock);
    bht_testbed **link = &open_testbeds;
    while (*link && *link != testbed) link = &(*link)->next;
    if (*link) *link = testbed->next;
    pthread_mutex_unlock(&open_lock);
}

bh_status bht_open(const bht_options *options, bht_testbed **result, bh_error *error) {
    if (!result || (options && options->struct_size < sizeof *options))
        return bht_fail(error, BH_INVALID_ARGUMENT, "bht_open needs a place for the testbed, and options from BH_INIT");
    bht_testbed *testbed = calloc(1, sizeof *testbed);
    if (!testbed) return bht_fail(error, BH_OUT_OF_RESOURCES, "there is no memory for a testbed");
    testbed->launches = -1;
    testbed->closing = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&testbed->lock, NULL);
    pthread_cond_init(&testbed->waited, NULL);
    bh_status status = find_programs(testbed, options, error);
    if (!status) status = check_paths(testbed, parent_directory(options), error);
    if (!status && !make_directory(testbed, parent_directory(options)))
        status =
            bht_fail(error, BH_OUT_OF_RESOURCES, "the directory of the testbed cannot be made: %s", strerror(errno));
    if (!status) status = bht_origin_open(testbed, error);
    if (status) {
        bht_close(testbed);
        return status;
    }
    add_open(testbed);
    *result = testbed;
    return bht_succeed(error);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void bht_remove(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

// Ends the waits of other threads, so that nothing uses the testbed.
static void end_waits(bht_testbed *testbed) {
    pthread_mutex_lock(&testbed->lock);
    testbed->is_closing = true;
    pthread_mutex_unlock(&testbed->lock);
    if (testbed->closing >= 0) eventfd_write(testbed->closing, 1);
    if (testbed->origin) bht_origin_end_waits(testbed->origin);
    if (testbed->control) control_bump(&testbed->control->reports);
    pthread_mutex_lock(&testbed->lock);
    while (testbed->waits) pthread_cond_wait(&testbed->waited, &testbed->lock);
    pthread_mutex_unlock(&testbed->lock);
}

void bht_close(bht_testbed *testbed) {
    if (!testbed) return;
    remove_open(testbed);
    end_waits(testbed);
    if (testbed->origin) bht_origin_close(testbed->origin);
    // The hosts end first, because a host starts the daemon again.
    bht_end_hosts(testbed);
    if (testbed->launches >= 0) close(testbed->launches);
    if (testbed->closing >= 0) close(testbed->closing);
    if (testbed->control) {
        bht_kill_daemon(testbed);
        munmap(testbed->control, sizeof *testbed->control);
    }
    if (*testbed->directory) bht_remove(testbed->directory);
    for (char **one = testbed->environment; one && *one; one++) free(*one);
    free(testbed->environment);
    free(testbed->taken);
    pthread_cond_destroy(&testbed->waited);
    pthread_mutex_destroy(&testbed->lock);
    free(testbed);
}

const char *bht_directory(const bht_testbed *testbed) { return testbed->directory; }
const char *bht_store(const bht_testbed *testbed) { return testbed->store; }
const char *const *bht_environment(const bht_testbed *testbed) { return (const char *const *)testbed->environment; }

// ---- The daemon

size_t bht_daemons(bht_testbed *testbed, pid_t *processes) {
    struct control *control = testbed->control;
    size_t found = 0;
    uint32_t count = __atomic_load_n(&control->daemon_count, __ATOMIC_SEQ_CST);
    for (uint32_t number = count > CONTROL_DAEMONS ? count - CONTROL_DAEMONS : 0; number < count; number++) {
        pid_t process = __atomic_load_n(&control->daemons[number % CONTROL_DAEMONS].process, __ATOMIC_SEQ_CST);
        if (process <= 0) continue;
        uint64_t start = control_start_of(process);
        if (start && start == control->daemons[number % CONTROL_DAEMONS].start)
            processes[found++] = process;
        else
            waitpid(process, NULL, WNOHANG); // a daemon that bht_start_daemon has started, and that has ended
    }
    return found;
}

bool bht_kill_process(pid_t process) {
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) return false;
    bool is_killed = !syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, NULL, 0);
    struct pollfd ended = {.fd = descriptor, .events = POLLIN};
    if (is_killed) poll(&ended, 1, 10000);
    waitpid(process, NULL, WNOHANG);
    close(descriptor);
    return is_killed;
}

bool bht_kill_daemon(bht_testbed *testbed) {
    pid_t processes[CONTROL_DAEMONS];
    bool any = false;
    size_t count = bht_daemons(testbed, processes);
    for (size_t i = 0; i < count; i++)
        if (bht_kill_process(processes[i])) any = true;
    return any;
}

bool bht_await_report(bht_testbed *testbed, const uint32_t *number, uint32_t value, int32_t timeout) {
    struct timespec deadline = bht_deadline(timeout);
    for (;;) {
        uint32_t reports = __atomic_load_n(&testbed->control->reports, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(number, __ATOMIC_SEQ_CST) != value) return true;
        int left = bht_left(&deadline);
        if (!left || bht_is_closing(testbed)) return false;
        struct timespec limit = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
        control_wait(&testbed->control->reports, reports, &limit);
    }
}

bh_status bht_start_daemon(bht_testbed *testbed, bh_error *error) {
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s/backhauld", testbed->directory);
    const char *words[] = {program, "--store", testbed->store, NULL};
    pid_t running[CONTROL_DAEMONS];
    if (bht_daemons(testbed, running)) return bht_succeed(error);
    uint32_t count = __atomic_load_n(&testbed->control->daemon_count, __ATOMIC_SEQ_CST);
    pid_t process = bht_spawn(words, testbed->environment, true, NULL);
    if (process < 0) return bht_fail(error, BH_DAEMON_UNAVAILABLE, "the daemon cannot be started: %s", strerror(errno));
    if (!bht_await_report(testbed, &testbed->control->daemon_count, count, 10000))
        return bht_fail(error, BH_DAEMON_UNAVAILABLE, "the daemon %s has not started", testbed->daemon);
    bht_settle(testbed); // now it serves the store
    return bht_succeed(error);
}

// ---- The clock

void bht_pass(bht_testbed *testbed, uint64_t milliseconds) {
    static const uint64_t longest = 100 * 365 * UINT64_C(86400000);
    uint64_t passed = 0;
    bht_demand(milliseconds <= longest, "bht_pass: %llu ms cannot pass; give at most 100 years",
               (unsigned long long)milliseconds);
    bht_settle(testbed);
    // A timer that is due may set a further timer. So the time passes in steps, the first of which are short.
    for (int shift = 6; shift >= 0; shift--) {
        uint64_t step = (milliseconds >> shift) - passed;
        passed += step;
        if (!step) continue;
        __atomic_add_fetch(&testbed->control->ahead, (int64_t)step * 1000000, __ATOMIC_SEQ_CST);
        control_bump(&testbed->control->changes);
        bht_settle(testbed);
    }
}

int64_t bht_now(const bht_testbed *testbed) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    int64_t ahead = __atomic_load_n(&testbed->control->ahead, __ATOMIC_SEQ_CST);
    return (int64_t)time.tv_sec * 1000 + (time.tv_nsec + ahead % 1000000000) / 1000000 + ahead / 1000000000 * 1000;
}
