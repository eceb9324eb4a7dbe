// Simulated processes. They are groups of threads of this process. Each has its own copy of the library, so that what
// the library keeps in global variables is its own; its own descriptors, which are closed when it ends; and its own
// number. The number of a process is also the number of its copy of the library.

#define _GNU_SOURCE
#include "simulated.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct process {
    int64_t start; // since the start of the machine
    bool is_running;
};

enum { MAXIMUM_DESCRIPTORS = 65536, FIRST_NUMBER = 1000 };

static struct process processes[SIM_PROCESSES + 1];
// For each descriptor: the process that owns it, the process whose end it reports (pidfd_open(2)), and the process at
// the other end of a Unix socket. 0: none.
static uint8_t owners[MAXIMUM_DESCRIPTORS], watched[MAXIMUM_DESCRIPTORS], peers[MAXIMUM_DESCRIPTORS];
// The timers that the kernel cancels when the calendar is set (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
static bool is_cancelled_by_step[MAXIMUM_DESCRIPTORS];
static int last_descriptor;
static int loading;

// ---- The life of a process

static int64_t machine_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

void sim_start_process(int process, void *(*body)(void *), void *argument) {
    processes[process] = (struct process){machine_time(), true};
    sim_start_thread(process, body, argument);
}

void sim_begin_arguments(void) { optind = 0; }

bool sim_is_running(int process) { return processes[process].is_running; }

void sim_end_process(int process) {
    processes[process].is_running = false;
    sim_end_threads(process);
    for (int i = 0; i <= last_descriptor; i++) {
        if (owners[i] == process) close(i);
        if (watched[i] == process) eventfd_write(i, 1);
    }
}

void sim_exit(void) {
    sim_end_process(sim_process());
    sim_stop_thread();
}

void sim_load_as(int process) { loading = process; }

// ---- Descriptors

int sim_own_descriptor(int descriptor) {
    if (!sim_is_on || descriptor < 0 || descriptor >= MAXIMUM_DESCRIPTORS) return descriptor;
    owners[descriptor] = sim_is_simulated() ? (uint8_t)sim_process() : 0;
    watched[descriptor] = peers[descriptor] = is_cancelled_by_step[descriptor] = 0;
    if (descriptor > last_descriptor) last_descriptor = descriptor;
    return descriptor;
}

void sim_forget_descriptor(int descriptor) {
    if (descriptor >= 0 && descriptor < MAXIMUM_DESCRIPTORS)
        owners[descriptor] = watched[descriptor] = peers[descriptor] = is_cancelled_by_step[descriptor] = 0;
}

int epoll_create1(int flags) { return sim_own_descriptor(REAL(epoll_create1)(flags)); }
int eventfd(unsigned value, int flags) { return sim_own_descriptor(REAL(eventfd)(value, flags)); }
int inotify_init1(int flags) { return sim_own_descriptor(REAL(inotify_init1)(flags)); }
int timerfd_create(clockid_t clock, int flags) { return sim_own_descriptor(REAL(timerfd_create)(clock, flags)); }

int timerfd_settime(int descriptor, int flags, const struct itimerspec *time, struct itimerspec *earlier) {
    if (sim_is_simulated() && descriptor >= 0 && descriptor < MAXIMUM_DESCRIPTORS)
        is_cancelled_by_step[descriptor] = flags & TFD_TIMER_CANCEL_ON_SET;
    return REAL(timerfd_settime)(descriptor, flags, time, earlier);
}

// The descriptor of a cancelled timer is readable. Here the timer expires instead, because the real calendar stays.
void sim_cancel_timers(void) {
    const struct itimerspec past = {.it_value = {.tv_nsec = 1}};
    for (int i = 0; i <= last_descriptor; i++) {
        if (!is_cancelled_by_step[i]) continue;
        struct pollfd timer = {.fd = i, .events = POLLIN};
        if (REAL(timerfd_settime)(i, TFD_TIMER_ABSTIME, &past, NULL) == 0) REAL(poll)(&timer, 1, -1);
    }
}

int dup(int descriptor) { return sim_own_descriptor(REAL(dup)(descriptor)); }

int signalfd(int descriptor, const sigset_t *mask, int flags) {
    return sim_own_descriptor(REAL(signalfd)(descriptor, mask, flags));
}

static int own_pair(int result, int pair[2]) {
    if (result == 0) sim_own_descriptor(pair[0]), sim_own_descriptor(pair[1]);
    return result;
}

int pipe2(int pair[2], int flags) { return own_pair(REAL(pipe2)(pair, flags), pair); }

int socketpair(int family, int type, int protocol, int pair[2]) {
    return own_pair(REAL(socketpair)(family, type, protocol, pair), pair);
}

int fcntl(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    int result = REAL(fcntl)(descriptor, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? sim_own_descriptor(result) : result;
}

int fcntl64(int descriptor, int command, ...) __attribute__((alias("fcntl")));

// ---- Numbers of processes

int sim_process_of(int number) {
    int process = number - FIRST_NUMBER;
    return process > 0 && process <= SIM_PROCESSES ? process : 0;
}

pid_t getpid(void) {
    if (loading) return FIRST_NUMBER + loading;
    int process = sim_is_on ? sim_process() : 0;
    return process ? FIRST_NUMBER + process : REAL(getpid)();
}

static void end_later(void *process) {
    if (processes[(intptr_t)process].is_running) sim_end_process((int)(intptr_t)process);
}

// SIGTERM and SIGKILL are the only signals. A program of the simulation ends at once with each of them.
static int send_signal(int process, int signal) {
    if (process && processes[process].is_running) {
        if (signal) sim_after(0, end_later, (void *)(intptr_t)process);
        return 0;
    }
    errno = ESRCH;
    return -1;
}

int kill(pid_t number, int signal) {
    int process = sim_is_simulated() ? sim_process_of(number) : 0;
    if (!process) return REAL(kill)(number, signal);
    return send_signal(process, signal);
}

int sim_pidfd_signal(int descriptor, int signal) { return send_signal(watched[descriptor], signal); }

pid_t sim_process_number(int process) { return FIRST_NUMBER + process; }

int sim_pidfd_open(pid_t number) {
    int process = sim_process_of(number);
    if (!process || !processes[process].is_running) {
        errno = ESRCH;
        return -1;
    }
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor >= 0) watched[descriptor] = (uint8_t)process;
    return descriptor;
}

// The first fields of proc_pid_stat(5), with the start time in ticks of 10 ms.
int sim_process_status(const char *path, char *text, size_t size) {
    int number;
    if (sscanf(path, "/proc/%d/stat", &number) != 1) return -1;
    int process = sim_process_of(number);
    if (!process || !processes[process].is_running) return 0;
    return snprintf(text, size, "%d (simulated) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %lld 0\n", number,
                    sim_is_stopped(process) ? 'T' : 'S', (long long)(processes[process].start / 10000));
}

// ---- The peers of Unix sockets. All sockets of the simulation lead to the one process that listens, and a process
// accepts connections in the order in which they were made.

enum { MAXIMUM_WAITING = 4096 };
static uint8_t waiting[MAXIMUM_WAITING];
static size_t first_waiting, waiting_count;
static int listener;

void sim_unix_listens(void) {
    listener = sim_process();
    waiting_count = 0;
}

void sim_unix_connected(int descriptor) {
    if (descriptor >= MAXIMUM_DESCRIPTORS || waiting_count == MAXIMUM_WAITING) return;
    peers[descriptor] = (uint8_t)listener;
    waiting[(first_waiting + waiting_count++) % MAXIMUM_WAITING] = (uint8_t)sim_process();
}

int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags) {
    int made = sim_own_descriptor(REAL(accept4)(descriptor, address, size, flags));
    if (made < 0 || !waiting_count) return made;
    peers[made] = waiting[first_waiting];
    first_waiting = (first_waiting + 1) % MAXIMUM_WAITING;
    waiting_count--;
    return made;
}

void sim_set_peer(int descriptor, struct ucred *credentials) {
    if (descriptor >= 0 && descriptor < MAXIMUM_DESCRIPTORS && peers[descriptor])
        credentials->pid = FIRST_NUMBER + peers[descriptor];
}
