// Threads that run one at a time, and the simulated time. A thread runs until it waits. Then the next thread is chosen
// among those that are ready; if none is ready, time passes until the next deadline or event.

#define _GNU_SOURCE
#include "simulated.h"
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum state { READY, WAITS_FOR_MUTEX, WAITS_FOR_CONDITION, WAITS_FOR_DESCRIPTORS, WAITS_FOR_END, SLEEPS, ENDED };

struct thread {
    uint32_t turn; // a futex: 1 if the thread may run
    enum state state;
    const void *object; // the mutex, the condition variable or the thread that it waits for
    int64_t until;      // the end of the wait; -1: no limit
    bool timed_out;
    struct pollfd *descriptors;
    size_t descriptor_count;
    pthread_t handle;
    int process;
    void *(*body)(void *);
    void *argument;
};

struct event {
    int64_t time;
    uint64_t number; // events of the same time come in the order in which they were added
    void (*body)(void *);
    void *context;
};

enum { MAXIMUM_THREADS = 256 };

bool sim_is_on;
static struct thread *threads[MAXIMUM_THREADS];
static size_t thread_count;
static __thread struct thread *self;
// While an event runs, no thread runs, so the functions of the C library do what they always do.
static bool is_in_event;
static int64_t now, calendar_start, boot_start;
static struct event *events;
static size_t event_count, event_room;
static int64_t stopped_until[SIM_PROCESSES + 1];
static uint64_t last_event, switch_count, world_state, order_state;

void *sim_real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

bool sim_is_simulated(void) { return sim_is_on && self && !is_in_event; }
int sim_process(void) { return self && !is_in_event ? self->process : 0; }

// SplitMix64, a generator of random numbers with a state of 64 bits (Steele, Lea and Flood, 2014).
uint64_t sim_next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t sim_random(void) { return sim_next_random(&world_state); }
int64_t sim_now(void) { return now; }
uint64_t sim_switches(void) { return switch_count; }
void sim_step_calendar(int64_t microseconds) {
    calendar_start += microseconds;
    sim_cancel_timers();
}

void sim_begin(uint64_t seed, int64_t calendar, int64_t boot) {
    world_state = seed;
    order_state = seed ^ 0x5bd1e995;
    calendar_start = calendar;
    boot_start = boot;
    threads[thread_count++] = self = calloc(1, sizeof *self);
    self->handle = pthread_self();
    sim_is_on = true;
}

// ---- Events: a heap, with the earliest event first

static bool is_before(const struct event *left, const struct event *right) {
    return left->time != right->time ? left->time < right->time : left->number < right->number;
}

static void swap(struct event *left, struct event *right) {
    struct event kept = *left;
    *left = *right;
    *right = kept;
}

void sim_after(int64_t microseconds, void (*body)(void *), void *context) {
    if (event_count == event_room) {
        event_room = event_room ? 2 * event_room : 64;
        events = realloc(events, event_room * sizeof *events);
    }
    events[event_count] = (struct event){now + microseconds, ++last_event, body, context};
    for (size_t i = event_count++; i && is_before(&events[i], &events[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&events[i], &events[(i - 1) / 2]);
}

static struct event take_event(void) {
    struct event first = events[0];
    events[0] = events[--event_count];
    for (size_t i = 0, child; (child = 2 * i + 1) < event_count; i = child) {
        if (child + 1 < event_count && is_before(&events[child + 1], &events[child])) child++;
        if (!is_before(&events[child], &events[i])) break;
        swap(&events[child], &events[i]);
    }
    return first;
}

static void run_due_events(void) {
    is_in_event = true;
    while (event_count && events[0].time <= now) {
        struct event event = take_event();
        event.body(event.context);
    }
    is_in_event = false;
}

// ---- The choice of the next thread

static bool has_descriptors(struct thread *thread) {
    return thread->state == WAITS_FOR_DESCRIPTORS && thread->descriptor_count &&
           REAL(poll)(thread->descriptors, thread->descriptor_count, 0) > 0;
}

static bool has_timed_out(const struct thread *thread) {
    return thread->state != READY && thread->until >= 0 && thread->until <= now;
}

void sim_stop_process(int process, int64_t microseconds) {
    if (!sim_is_stopped(process)) stopped_until[process] = now + microseconds;
}
bool sim_is_stopped(int process) { return stopped_until[process] > now; }

static void report_deadlock(void) {
    dprintf(2, "each thread waits, and nothing will happen:\n");
    for (size_t i = 0; i < thread_count; i++)
        dprintf(2, "thread %zu: state %d, until %lld\n", i, threads[i]->state, (long long)threads[i]->until);
    abort();
}

// The next time at which the thread may become able to run; -1: none.
static int64_t limit_of(const struct thread *thread) {
    return sim_is_stopped(thread->process) ? stopped_until[thread->process] : thread->until;
}

static void advance_time(void) {
    int64_t next = event_count ? events[0].time : INT64_MAX;
    for (size_t i = 0; i < thread_count; i++) {
        int64_t limit = limit_of(threads[i]);
        if (limit >= 0 && limit < next) next = limit;
    }
    if (next == INT64_MAX) report_deadlock();
    if (next > now) now = next;
}

static bool can_run(struct thread *thread) {
    return !sim_is_stopped(thread->process) &&
           (thread->state == READY || has_timed_out(thread) || has_descriptors(thread));
}

static struct thread *choose(void) {
    for (;; advance_time()) {
        struct thread *ready[MAXIMUM_THREADS];
        size_t count = 0;
        run_due_events();
        for (size_t i = 0; i < thread_count; i++)
            if (can_run(threads[i])) ready[count++] = threads[i];
        if (!count) continue;
        struct thread *chosen = ready[sim_next_random(&order_state) % count];
        chosen->timed_out = has_timed_out(chosen);
        chosen->state = READY;
        chosen->until = -1;
        switch_count++;
        now++; // a program that waits for time to pass makes progress
        return chosen;
    }
}

static void await_turn(struct thread *thread) {
    while (!__atomic_exchange_n(&thread->turn, 0, __ATOMIC_ACQUIRE))
        REAL(syscall)(SYS_futex, &thread->turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void give_turn(struct thread *thread) {
    __atomic_store_n(&thread->turn, 1, __ATOMIC_RELEASE);
    REAL(syscall)(SYS_futex, &thread->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

// Lets another thread run, and returns when the calling thread was chosen again.
static void pass_turn(void) {
    struct thread *caller = self, *next = choose();
    if (next == caller) return;
    give_turn(next);
    await_turn(caller);
}

// Waits in the given state. Returns false if the time came first.
static bool wait_in(enum state state, const void *object, int64_t until) {
    self->state = state;
    self->object = object;
    self->until = until;
    pass_turn();
    return !self->timed_out;
}

static void make_ready(enum state state, const void *object, bool all) {
    for (size_t i = 0; i < thread_count; i++) {
        if (threads[i]->state != state || threads[i]->object != object) continue;
        threads[i]->state = READY;
        threads[i]->until = -1;
        if (!all) return;
    }
}

static void sleep_until(int64_t until) { wait_in(SLEEPS, NULL, until); }
void sim_sleep(void) {
    for (;;) sleep_until(-1);
}

void sim_wait_for(struct pollfd *descriptors, size_t count, int64_t until) {
    self->descriptors = descriptors;
    self->descriptor_count = count;
    wait_in(WAITS_FOR_DESCRIPTORS, NULL, until);
    self->descriptor_count = 0;
}

// ---- Threads, mutexes and condition variables

static void *run_thread(void *argument) {
    self = argument;
    await_turn(self);
    void *result = self->body(self->argument);
    self->state = ENDED;
    make_ready(WAITS_FOR_END, self, true);
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i] == self) threads[i] = threads[--thread_count];
    struct thread *next = choose();
    self = NULL;
    give_turn(next);
    return result;
}

static int start_thread(pthread_t *handle, const pthread_attr_t *attributes, void *(*body)(void *), void *argument,
                        int process) {
    if (thread_count == MAXIMUM_THREADS) return EAGAIN;
    struct thread *made = calloc(1, sizeof *made);
    made->until = -1;
    made->process = process;
    made->body = body;
    made->argument = argument;
    int result = REAL(pthread_create)(handle, attributes, run_thread, made);
    if (result) return result;
    made->handle = *handle;
    threads[thread_count++] = made;
    return 0;
}

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    if (!sim_is_simulated()) return REAL(pthread_create)(handle, attributes, body, argument);
    if (sim_call_fails(SIM_THREAD)) return errno;
    return start_thread(handle, attributes, body, argument, self->process);
}

void sim_start_thread(int process, void *(*body)(void *), void *argument) {
    pthread_t handle;
    if (start_thread(&handle, NULL, body, argument, process)) abort();
}

// The threads of an ended process are never chosen again.
void sim_end_threads(int process) {
    size_t count = 0;
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i]->process != process) threads[count++] = threads[i];
    thread_count = count;
}

void sim_stop_thread(void) {
    give_turn(choose());
    for (;;) await_turn(self);
}

int pthread_join(pthread_t handle, void **result) {
    if (sim_is_simulated())
        for (size_t i = 0; i < thread_count; i++)
            if (pthread_equal(threads[i]->handle, handle)) {
                wait_in(WAITS_FOR_END, threads[i], -1);
                break;
            }
    return REAL(pthread_join)(handle, result);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!sim_is_simulated()) return REAL(pthread_mutex_lock)(mutex);
    int result;
    while ((result = REAL(pthread_mutex_trylock)(mutex)) == EBUSY) wait_in(WAITS_FOR_MUTEX, mutex, -1);
    return result;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    int result = REAL(pthread_mutex_unlock)(mutex);
    if (sim_is_simulated()) make_ready(WAITS_FOR_MUTEX, mutex, true);
    return result;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    if (!sim_is_simulated()) return REAL(pthread_cond_wait)(condition, mutex);
    pthread_mutex_unlock(mutex);
    wait_in(WAITS_FOR_CONDITION, condition, -1);
    return pthread_mutex_lock(mutex);
}

static int64_t microseconds(const struct timespec *time) {
    return (int64_t)time->tv_sec * 1000000 + (time->tv_nsec + 999) / 1000;
}

// The clock of a deadline is known by its size: the machine has not run for three years.
static int64_t simulated_time(const struct timespec *time) {
    int64_t given = microseconds(time);
    int64_t at = given - (time->tv_sec > 100000000 ? calendar_start : boot_start);
    return at < 0 ? 0 : at;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
    if (!sim_is_simulated()) return REAL(pthread_cond_timedwait)(condition, mutex, time);
    pthread_mutex_unlock(mutex);
    bool came = wait_in(WAITS_FOR_CONDITION, condition, simulated_time(time));
    int result = pthread_mutex_lock(mutex);
    return came ? result : ETIMEDOUT;
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *time) {
    (void)clock;
    return pthread_cond_timedwait(condition, mutex, time);
}

int pthread_cond_signal(pthread_cond_t *condition) {
    if (!sim_is_simulated()) return REAL(pthread_cond_signal)(condition);
    make_ready(WAITS_FOR_CONDITION, condition, false);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
    if (!sim_is_simulated()) return REAL(pthread_cond_broadcast)(condition);
    make_ready(WAITS_FOR_CONDITION, condition, true);
    if (sim_next_random(&order_state) % 4 == 0) pass_turn();
    return 0;
}

// ---- Waits for descriptors

static int64_t deadline(int milliseconds) { return milliseconds < 0 ? -1 : now + (int64_t)milliseconds * 1000; }

int epoll_wait(int set, struct epoll_event *found, int maximum, int milliseconds) {
    int count = REAL(epoll_wait)(set, found, maximum, sim_is_simulated() ? 0 : milliseconds);
    if (!sim_is_simulated() || count || !milliseconds) return count;
    struct pollfd descriptor = {.fd = set, .events = POLLIN};
    sim_wait_for(&descriptor, 1, deadline(milliseconds));
    return REAL(epoll_wait)(set, found, maximum, 0);
}

int epoll_pwait(int set, struct epoll_event *found, int maximum, int milliseconds, const sigset_t *mask) {
    if (sim_is_simulated()) return epoll_wait(set, found, maximum, milliseconds);
    return REAL(epoll_pwait)(set, found, maximum, milliseconds, mask);
}

int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
    int found = REAL(poll)(descriptors, count, sim_is_simulated() ? 0 : milliseconds);
    if (!sim_is_simulated() || found || !milliseconds) return found;
    sim_wait_for(descriptors, count, deadline(milliseconds));
    return REAL(poll)(descriptors, count, 0);
}

int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *limit, const sigset_t *mask) {
    if (!sim_is_simulated()) return REAL(ppoll)(descriptors, count, limit, mask);
    return poll(descriptors, count, limit ? (int)(microseconds(limit) / 1000) : -1);
}

// ---- Clocks

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!sim_is_on) return REAL(clock_gettime)(clock, time);
    bool is_calendar = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    int64_t reading = now + (is_calendar ? calendar_start : boot_start);
    *time = (struct timespec){.tv_sec = reading / 1000000, .tv_nsec = reading % 1000000 * 1000};
    return 0;
}

int gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    struct timespec reading;
    clock_gettime(CLOCK_REALTIME, &reading);
    *time = (struct timeval){.tv_sec = reading.tv_sec, .tv_usec = reading.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result) {
    struct timespec reading;
    clock_gettime(CLOCK_REALTIME, &reading);
    if (result) *result = reading.tv_sec;
    return reading.tv_sec;
}

int nanosleep(const struct timespec *duration, struct timespec *left) {
    if (!sim_is_simulated()) return REAL(nanosleep)(duration, left);
    sleep_until(now + microseconds(duration));
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    if (!sim_is_simulated()) return REAL(clock_nanosleep)(clock, flags, time, left);
    sleep_until(flags & TIMER_ABSTIME ? simulated_time(time) : now + microseconds(time));
    return 0;
}

int usleep(useconds_t duration) {
    if (!sim_is_simulated()) return REAL(usleep)(duration);
    sleep_until(now + duration);
    return 0;
}
