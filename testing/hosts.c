// Hosts, which are children of the test, and the launches that a daemon reports.

#define _GNU_SOURCE
#include "kit.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

extern char **environ;

// ---- Processes

static const char *value_of(char *const *environment, const char *entry) {
    size_t size = strcspn(entry, "=") + 1;
    for (; *environment; environment++)
        if (!strncmp(*environment, entry, size)) return *environment;
    return NULL;
}

// Copies the pointers of `base` that `added` does not have, and those of `added`.
static char **merge(char *const *base, char *const *added) {
    size_t count = 0, next = 0;
    for (char *const *one = base; *one; one++) count++;
    for (char *const *one = added; *one; one++) count++;
    char **result = calloc(count + 1, sizeof *result);
    if (!result) abort();
    for (char *const *one = base; *one; one++)
        if (!value_of(added, *one)) result[next++] = *one;
    for (char *const *one = added; *one; one++) result[next++] = *one;
    return result;
}

// With `own`, the program gets the environment of the test, too.
pid_t bht_spawn(const char *const *words, char *const *environment, bool own, const char *directory) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    if (directory) posix_spawn_file_actions_addchdir_np(&actions, directory);
    char *const none_of_own[] = {NULL};
    char **whole = merge(own ? environ : none_of_own, environment);
    pid_t process = -1;
    int code = posix_spawn(&process, words[0], &actions, &attributes, (char *const *)(uintptr_t)words, whole);
    free(whole);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = code;
    return code ? -1 : process;
}

// The exit code of a host is not known if the process of the test ignores SIGCHLD: the kernel throws it away.
static const int32_t unknown_code = -1;

static bh_status add_host(bht_testbed *testbed, pid_t process, const char *program, bht_host **result,
                          bh_error *error) {
    if (process < 0) return bht_fail(error, BH_OUT_OF_RESOURCES, "%s cannot be started: %s", program, strerror(errno));
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0 && errno != ESRCH) {
        int code = errno;
        kill(process, SIGKILL);
        waitpid(process, NULL, 0);
        return bht_fail(error, BH_OUT_OF_RESOURCES, "%s cannot be watched: %s", program, strerror(code));
    }
    bht_host *host = calloc(1, sizeof *host);
    if (!host) abort();
    // Without a descriptor, the host has ended already, and the kernel has thrown its exit code away.
    *host = (bht_host){.testbed = testbed,
                       .process = process,
                       .descriptor = descriptor,
                       .has_ended = descriptor < 0,
                       .exit_code = unknown_code};
    pthread_mutex_lock(&testbed->lock);
    host->next = testbed->hosts;
    testbed->hosts = host;
    pthread_mutex_unlock(&testbed->lock);
    *result = host;
    return bht_succeed(error);
}

bh_status bht_start(bht_testbed *testbed, const char *const *words, size_t count, bht_host **host, bh_error *error) {
    char own[PATH_MAX] = "";
    if (!count || !host || (!words[0] && readlink("/proc/self/exe", own, sizeof own - 1) < 0))
        return bht_fail(error, BH_INVALID_ARGUMENT, "a host needs a program and a place for the result");
    const char **copy = calloc(count + 1, sizeof *copy);
    if (!copy) abort();
    for (size_t i = 0; i < count; i++) copy[i] = words[i];
    if (!copy[0]) copy[0] = own;
    bh_status status = add_host(testbed, bht_spawn(copy, testbed->environment, true, NULL), copy[0], host, error);
    free(copy);
    return status;
}

int32_t bht_process_id(const bht_host *host) { return host->process; }

// Takes the exit code of a host that has ended. The testbed's lock is held, because only one waitpid(2) gets it.
static void take_end(bht_host *host) {
    int status = 0;
    pid_t taken;
    if (host->has_ended) return;
    do taken = waitpid(host->process, &status, 0);
    while (taken < 0 && errno == EINTR);
    host->has_ended = true;
    host->exit_code = taken < 0 ? unknown_code : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void bht_kill(bht_host *host) {
    pthread_mutex_lock(&host->testbed->lock);
    bool runs = host->descriptor >= 0 && poll(&(struct pollfd){.fd = host->descriptor, .events = POLLIN}, 1, 0) <= 0;
    if (runs) host->is_reported = !kill(host->process, SIGKILL);
    take_end(host);
    pthread_mutex_unlock(&host->testbed->lock);
}

// Waits until the host has ended. Returns its exit code in `code`.
static bh_status await_end(bht_host *host, int32_t timeout, int32_t *code, bh_error *error) {
    struct timespec deadline = bht_deadline(timeout);
    if (host->descriptor >= 0 && !bht_await_descriptor(host->testbed, host->descriptor, &deadline))
        return bht_time_out(host->testbed, error, "the host with process id %d still runs", host->process);
    pthread_mutex_lock(&host->testbed->lock);
    take_end(host);
    *code = host->exit_code;
    host->is_reported = true;
    pthread_mutex_unlock(&host->testbed->lock);
    return BH_OK;
}

void bht_append_failures(bht_testbed *testbed, char *text, size_t size) {
    pthread_mutex_lock(&testbed->lock);
    for (bht_host *host = testbed->hosts; host; host = host->next) {
        struct pollfd ended = {.fd = host->descriptor, .events = POLLIN};
        if (host->is_reported || poll(&ended, 1, 0) <= 0) continue;
        take_end(host);
        int32_t code = host->exit_code;
        size_t used = strlen(text);
        if (code > 0 && code != 128 + SIGKILL && code != 128 + SIGTERM)
            snprintf(text + used, size - used, "; the host with process id %d has ended with the exit code %d",
                     host->process, code);
    }
    pthread_mutex_unlock(&testbed->lock);
}

bh_status bht_wait(bht_host *host, int32_t timeout, int32_t *exit_code, bh_error *error) {
    int32_t code = 0;
    bht_begin_wait(host->testbed);
    bh_status status = await_end(host, timeout, &code, error);
    bht_end_wait(host->testbed);
    if (status) return status;
    if (code == unknown_code)
        return bht_fail(error, BH_WRONG_STATE,
                        "the exit code of the host is not known: the test ignores SIGCHLD, or has waited for the "
                        "process itself; let SIGCHLD have its default action");
    if (exit_code) *exit_code = code;
    return bht_succeed(error);
}

bh_status bht_wait_for_success(bht_host *host, int32_t timeout, bh_error *error) {
    int32_t code = 0;
    bh_status status = bht_wait(host, timeout, &code, error);
    if (status || !code) return status;
    bht_fail(error, BH_WRONG_STATE, "the host has ended with the exit code %d", code);
    if (error && error->struct_size >= sizeof *error) error->detail = code;
    return BH_WRONG_STATE;
}

void bht_kill_hosts(bht_testbed *testbed) {
    for (bht_host *host = testbed->hosts; host; host = host->next) bht_kill(host);
}

void bht_end_hosts(bht_testbed *testbed) {
    bht_kill_hosts(testbed);
    while (testbed->hosts) {
        bht_host *host = testbed->hosts;
        testbed->hosts = host->next;
        close(host->descriptor);
        free(host);
    }
}

// ---- Launches

int bht_listen_for_launches(const char *directory) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    // The path of a socket is short, and the path of the directory may be long.
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/launches", folder);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_bound = folder >= 0 && listener >= 0 && !bind(listener, (struct sockaddr *)&address, sizeof address) &&
                    !listen(listener, 16);
    if (folder >= 0) close(folder);
    if (is_bound) return listener;
    if (listener >= 0) close(listener);
    return -1;
}

// Reads what backhaul-launched sends: the numbers of words and of variables, the size of the texts, and the texts: the
// directory, the words and the variables. Returns the pointers to the texts in one block with them.
static char **receive(int connection, uint32_t counts[3]) {
    if (recv(connection, counts, 3 * sizeof *counts, MSG_WAITALL) != 3 * sizeof *counts) return NULL;
    size_t count = (size_t)counts[0] + counts[1] + 3, next = 0;
    char **texts = calloc(1, count * sizeof *texts + counts[2] + 1);
    if (!texts) abort();
    char *text = (char *)(texts + count);
    if (recv(connection, text, counts[2], MSG_WAITALL) != (ssize_t)counts[2]) {
        free(texts);
        return NULL;
    }
    for (size_t i = 0; i < (size_t)counts[0] + counts[1] + 1; i++) {
        // The words and the variables both end with NULL.
        if (i == (size_t)counts[0] + 1) next++;
        texts[next++] = text;
        text += strlen(text) + 1;
    }
    return texts;
}

// Whether the launch continues. If the daemon has ended it, backhaul-launched has closed its end of the connection.
static bool is_alive(int connection) {
    char byte;
    return recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static bh_status take_launch(bht_testbed *testbed, int32_t timeout, bht_launch_request *request, bh_error *error) {
    struct timespec deadline = bht_deadline(timeout);
    for (int ended = 0;; ended++) {
        if (!bht_await_descriptor(testbed, testbed->launches, &deadline))
            return bht_time_out(testbed, error,
                                ended ? "the daemon has ended %d launches before the test took them; take a launch "
                                        "before the time passes"
                                      : "the daemon has launched no host",
                                ended);
        int connection = accept4(testbed->launches, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0 && errno != EINTR && errno != ECONNABORTED)
            return bht_fail(error, BH_OUT_OF_RESOURCES, "a launch cannot be received: %s", strerror(errno));
        uint32_t counts[3];
        char **texts = connection >= 0 ? receive(connection, counts) : NULL;
        if (!texts || !is_alive(connection)) {
            free(texts);
            if (connection >= 0) close(connection);
            continue;
        }
        pthread_mutex_lock(&testbed->lock);
        free(testbed->taken);
        testbed->taken = (char *)texts;
        pthread_mutex_unlock(&testbed->lock);
        request->directory = texts[0];
        request->words = (const char *const *)(texts + 1);
        request->environment = (const char *const *)(texts + counts[0] + 2);
        request->connection = connection;
        return bht_succeed(error);
    }
}

bh_status bht_take_launch(bht_testbed *testbed, int32_t timeout, bht_launch_request *request, bh_error *error) {
    bht_begin_wait(testbed);
    bh_status status = take_launch(testbed, timeout, request, error);
    bht_end_wait(testbed);
    return status;
}

void bht_drop_launches(bht_testbed *testbed) {
    struct pollfd ready = {.fd = testbed->launches, .events = POLLIN};
    while (poll(&ready, 1, 0) > 0) {
        int connection = accept4(testbed->launches, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0) break;
        close(connection);
    }
}

bh_status bht_launch(bht_testbed *testbed, int32_t timeout, bht_host **host, bh_error *error) {
    bht_launch_request request = BH_INIT(bht_launch_request);
    bh_status status = bht_take_launch(testbed, timeout, &request, error);
    if (status) return status;
    // The host inherits the connection: the launch ends when the host ends.
    fcntl(request.connection, F_SETFD, 0);
    pid_t process = bht_spawn(request.words, (char *const *)(uintptr_t)request.environment, false, request.directory);
    int code = errno;
    if (process > 0) send(request.connection, &process, sizeof process, MSG_NOSIGNAL);
    close(request.connection);
    errno = code;
    return add_host(testbed, process, request.words[0], host, error);
}
