// The clocks and the waits of a daemon. The test moves the clocks through the control page. A thread that waits for a
// time is woken when the clocks are moved, and waits for the rest of its time.

#define _GNU_SOURCE
#include "preload.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/time.h>

// A thread in a wait with a time limit. It is on the stack of this thread.
struct waiter {
    struct waiter *next, **link;
    pthread_cond_t *condition; // or NULL: `wake` is polled
    int wake;
    uint32_t seen; // the number of changes that the thread has seen
};

static pthread_mutex_t waiters_lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiter *waiters;
static pthread_key_t wake_key;
static pthread_once_t wake_once = PTHREAD_ONCE_INIT;

static int64_t nanoseconds(const struct timespec *time) { return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec; }

static struct timespec timespec_of(int64_t time) {
    return (struct timespec){.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
}

static int64_t ahead(void) { return control ? __atomic_load_n(&control->ahead, __ATOMIC_SEQ_CST) : 0; }
static uint32_t changes(void) { return __atomic_load_n(&control->changes, __ATOMIC_SEQ_CST); }

int64_t real_now(void) {
    struct timespec time;
    REAL(clock_gettime)(CLOCK_MONOTONIC, &time);
    return nanoseconds(&time);
}

// How far the clocks are ahead that begin at boot: the monotonic clock, and the boot clock.
static int64_t boot_ahead(void) {
    return control ? ahead() - __atomic_load_n(&control->boot_behind, __ATOMIC_SEQ_CST) : 0;
}

int64_t moved_now(void) { return real_now() + boot_ahead(); }

// ---- Clocks

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = REAL(clock_gettime)(clock, time);
    // The clocks of processor time are not moved.
    bool is_calendar = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    bool is_of_boot = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
                      clock == CLOCK_BOOTTIME;
    if (!result && (is_calendar || is_of_boot))
        *time = timespec_of(nanoseconds(time) + (is_calendar ? ahead() : boot_ahead()));
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec reading;
    if (clock_gettime(CLOCK_REALTIME, &reading)) return -1;
    *time = (struct timeval){.tv_sec = reading.tv_sec, .tv_usec = reading.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result) {
    struct timespec reading;
    clock_gettime(CLOCK_REALTIME, &reading);
    if (result) *result = reading.tv_sec;
    return reading.tv_sec;
}

// ---- Waiting threads

static void begin_wait(struct waiter *waiter) {
    pthread_mutex_lock(&waiters_lock);
    waiter->next = waiters;
    waiter->link = &waiters;
    if (waiters) waiters->link = &waiter->next;
    waiters = waiter;
    pthread_mutex_unlock(&waiters_lock);
}

static void end_wait(struct waiter *waiter) {
    pthread_mutex_lock(&waiters_lock);
    *waiter->link = waiter->next;
    if (waiter->next) waiter->next->link = waiter->link;
    pthread_mutex_unlock(&waiters_lock);
}

// Wakes the threads that have not seen the last change. Returns whether there were any.
static bool wake_waiters(uint32_t change) {
    bool are_left = false;
    pthread_mutex_lock(&waiters_lock);
    for (struct waiter *waiter = waiters; waiter; waiter = waiter->next) {
        if (__atomic_load_n(&waiter->seen, __ATOMIC_SEQ_CST) == change) continue;
        are_left = true;
        if (waiter->condition)
            pthread_cond_broadcast(waiter->condition);
        else
            eventfd_write(waiter->wake, 1);
    }
    pthread_mutex_unlock(&waiters_lock);
    return are_left;
}

static void *run_clock(void *argument) {
    (void)argument;
    uint32_t conditions = __atomic_load_n(&control->conditions, __ATOMIC_SEQ_CST);
    for (uint32_t seen = changes();;) {
        control_wait(&control->changes, seen, NULL);
        if (changes() == seen) continue;
        seen = changes();
        uint32_t present = __atomic_load_n(&control->conditions, __ATOMIC_SEQ_CST);
        if (present != conditions) report_conditions();
        conditions = present;
        // A thread may have computed its limit before the change and begin to wait after the wake-up. So the wake-up is
        // repeated until each thread has seen the change.
        while (wake_waiters(changes())) sched_yield();
    }
    return NULL;
}

void start_clock(void) { start_thread(run_clock, NULL); }

// ---- Condition variables

// Only a time of the calendar clock is this large: no machine has run for 30 years.
enum { CALENDAR_SECONDS = 1000000000 };

static int wait_for_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                              const struct timespec *limit) {
    struct waiter waiter = {.condition = condition, .wake = -1, .seen = changes()};
    begin_wait(&waiter);
    // The clock is moved before the number of changes grows, so an earlier number only causes one more wake-up.
    struct timespec real =
        timespec_of(nanoseconds(limit) - (limit->tv_sec < CALENDAR_SECONDS ? boot_ahead() : ahead()));
    if (real.tv_sec < 0 || real.tv_nsec < 0) real = (struct timespec){0};
    int result = clock == CLOCK_PROCESS_CPUTIME_ID ? REAL(pthread_cond_timedwait)(condition, mutex, &real)
                                                   : REAL(pthread_cond_clockwait)(condition, mutex, clock, &real);
    end_wait(&waiter);
    return result;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict limit) {
    if (!control) return REAL(pthread_cond_timedwait)(condition, mutex, limit);
    // The condition variable knows its clock.
    return wait_for_condition(condition, mutex, CLOCK_PROCESS_CPUTIME_ID, limit);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
                           const struct timespec *restrict limit) {
    if (!control) return REAL(pthread_cond_clockwait)(condition, mutex, clock, limit);
    return wait_for_condition(condition, mutex, clock, limit);
}

// ---- Descriptors

static void close_wake(void *value) { close((int)(intptr_t)value - 1); }
static void make_wake_key(void) { pthread_key_create(&wake_key, close_wake); }

// The calling thread's descriptor that is readable after the clock was moved.
static int own_wake(void) {
    pthread_once(&wake_once, make_wake_key);
    intptr_t value = (intptr_t)pthread_getspecific(wake_key);
    if (!value) {
        value = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) + 1;
        if (!value) return -1;
        pthread_setspecific(wake_key, (void *)value);
    }
    return (int)value - 1;
}

// Waits like ppoll(2), but until a time of the moved clock; -1: without a limit. The last element of `descriptors` is
// for this function.
static int wait_for(struct pollfd *descriptors, nfds_t count, int64_t until, const sigset_t *mask) {
    struct waiter waiter = {.wake = own_wake(), .seen = changes()};
    descriptors[count - 1] = (struct pollfd){.fd = waiter.wake, .events = POLLIN};
    begin_wait(&waiter);
    int found;
    do {
        eventfd_t number;
        __atomic_store_n(&waiter.seen, changes(), __ATOMIC_SEQ_CST);
        eventfd_read(waiter.wake, &number);
        int64_t left = until < 0 ? 0 : until - moved_now();
        struct timespec limit = timespec_of(left < 0 ? 0 : left);
        found = REAL(ppoll)(descriptors, count, until < 0 ? NULL : &limit, mask);
        // Waking up for the clock only is no result.
    } while (found == 1 && descriptors[count - 1].revents);
    end_wait(&waiter);
    return found > 0 && descriptors[count - 1].revents ? found - 1 : found;
}

static int64_t until_after(int milliseconds) {
    return milliseconds < 0 ? -1 : moved_now() + (int64_t)milliseconds * 1000000;
}

int epoll_pwait(int set, struct epoll_event *found, int maximum, int milliseconds, const sigset_t *mask) {
    if (!control || milliseconds <= 0) return REAL(epoll_pwait)(set, found, maximum, milliseconds, mask);
    struct pollfd descriptors[2] = {{.fd = set, .events = POLLIN}};
    int ready = wait_for(descriptors, 2, until_after(milliseconds), mask);
    return ready <= 0 ? ready : REAL(epoll_pwait)(set, found, maximum, 0, mask);
}

int epoll_wait(int set, struct epoll_event *found, int maximum, int milliseconds) {
    return epoll_pwait(set, found, maximum, milliseconds, NULL);
}

int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *limit, const sigset_t *mask) {
    enum { MOST = 64 };
    bool is_short = limit && !limit->tv_sec && !limit->tv_nsec;
    if (!control || !limit || is_short || count >= MOST) return REAL(ppoll)(descriptors, count, limit, mask);
    struct pollfd all[MOST];
    memcpy(all, descriptors, count * sizeof *all);
    int found = wait_for(all, count + 1, moved_now() + nanoseconds(limit), mask);
    memcpy(descriptors, all, count * sizeof *all);
    return found;
}

int poll(struct pollfd *descriptors, nfds_t count, int milliseconds) {
    struct timespec limit = timespec_of((int64_t)milliseconds * 1000000);
    if (!control || milliseconds <= 0) return REAL(poll)(descriptors, count, milliseconds);
    return ppoll(descriptors, count, &limit, NULL);
}

// ---- Sleeps

static int sleep_until(int64_t until) {
    for (int64_t left; (left = until - moved_now()) > 0;) {
        uint32_t seen = changes();
        struct timespec limit = timespec_of(left = until - moved_now());
        if (left > 0 && control_wait(&control->changes, seen, &limit) && errno == EINTR) return EINTR;
    }
    return 0;
}

int nanosleep(const struct timespec *duration, struct timespec *left) {
    if (!control) return REAL(nanosleep)(duration, left);
    int64_t until = moved_now() + nanoseconds(duration);
    if (!(errno = sleep_until(until))) return 0;
    int64_t rest = until - moved_now();
    if (left) *left = timespec_of(rest > 0 ? rest : 0);
    return -1;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    if (!control || clock != CLOCK_MONOTONIC) return REAL(clock_nanosleep)(clock, flags, time, left);
    return sleep_until(flags & TIMER_ABSTIME ? nanoseconds(time) : moved_now() + nanoseconds(time));
}

int usleep(useconds_t duration) {
    struct timespec time = timespec_of((int64_t)duration * 1000);
    return nanosleep(&time, NULL);
}
