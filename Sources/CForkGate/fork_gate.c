// Keeps the locks of the Swift runtime free in forked children.
//
// The Swift runtime computes types and global values when they are first used, and holds locks meanwhile. If a thread
// of the parent computes a value during a fork, these locks are also locked in the child. But the child does not have
// the thread that would release the locks. In the child, the next use of such a lock would wait for ever. So options of
// the linker in the Makefile replace the functions of the runtime that compute values. Each replacement calls the
// original function between `bhl_computation_begins` and `bhl_computation_ends`. Before a fork, a handler of
// pthread_atfork waits until no computation runs.
//
// Most computations take microseconds. But at the first use of libcurl or libsystemd, a computation loads files, which
// may take longer. And a fork handler of the host (the program that embeds the library) may hold a lock during the
// fork. If a computation waits for this lock, the fork and the computation wait for each other. So all waits for one
// fork end after 0.2 s at the latest. If a wait ends because of this limit, the child may hang, as without this gate.
//
// Builds without the options of the linker do not use the replacements.

#define _GNU_SOURCE

#include "fork_gate.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The number of threads that compute a value.
static atomic_int computing;
// The number of forks that are under way.
static atomic_int forking;
// The time of CLOCK_MONOTONIC, in nanoseconds, after which nothing waits for the present forks.
static atomic_llong deadline;
static atomic_llong longest_wait = 200 * 1000 * 1000;
// The process to which `computing` and `forking` belong. If a child is made without the handlers of fork, the two
// variables in the child still have the numbers of the parent.
static atomic_int process;

// The number of nested computations that this thread performs. While this number is not 0, the thread may hold locks of
// the runtime, so it must not wait for a fork.
static _Thread_local int depth;
// Whether `computing` counts this thread.
static _Thread_local bool is_counted;
static _Thread_local bool forks;

void bhl_set_longest_fork_wait(int milliseconds) { atomic_store(&longest_wait, milliseconds * 1000000LL); }

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Sleeps for 20 microseconds, or returns false after the deadline. The system call is made directly, because a thread
// can be cancelled in nanosleep(3), but must not be cancelled in fork.
static bool sleeps_before_deadline(void) {
    if (now() >= atomic_load(&deadline)) return false;
    const int error = errno;
    const struct timespec pause = {0, 20 * 1000};
    syscall(SYS_nanosleep, &pause, NULL);
    errno = error;
    return true;
}

static void count(bool counts) {
    if (is_counted == counts) return;
    is_counted = counts;
    atomic_fetch_add(&computing, counts ? 1 : -1);
}

__attribute__((noinline)) void bhl_computation_begins(void) {
    if (depth++ > 0) return;
    for (;;) {
        count(true);
        if (forks || atomic_load(&forking) == 0) return;
        // A fork is under way. It may have read `computing` before this thread was counted, so this thread waits.
        count(false);
        if (!sleeps_before_deadline()) break;
    }
    count(true);
}

__attribute__((noinline)) void bhl_computation_ends(void) {
    if (--depth == 0) count(false);
}

static void before_fork(void) {
    if (atomic_exchange(&process, getpid()) != getpid()) {
        atomic_store(&computing, is_counted);
        atomic_store(&forking, 0);
    }
    forks = true;
    // If several forks overlap, the deadline of the first fork holds for all of them. Otherwise, forks without a pause
    // between them could make other threads wait for a long time.
    if (atomic_load(&forking) == 0) atomic_store(&deadline, now() + atomic_load(&longest_wait));
    atomic_fetch_add(&forking, 1);
    while (atomic_load(&computing) > is_counted && sleeps_before_deadline()) {}
}

static void after_fork_in_parent(void) {
    atomic_fetch_sub(&forking, 1);
    forks = false;
}

static void after_fork_in_child(void) {
    atomic_store(&process, getpid());
    atomic_store(&forking, 0);
    atomic_store(&computing, is_counted);
    forks = false;
}

// The constructor runs before any other code of the library registers handlers. After a fork, handlers run in the order
// of their registration; before a fork, they run in the reverse order. So before a fork, `before_fork` runs after
// all other handlers of the library. After a fork, the handlers of this file run before all other handlers of the
// library.
__attribute__((constructor)) static void register_handlers(void) {
    atomic_store(&process, getpid());
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// MARK: Global values

// Replaces `swift::threading_impl::once_slow`. The lock of the runtime contains the number of the thread that owns it,
// and each thread remembers its own number. In a forked child, the remembered number is still a number of the parent.
// So if two threads of the child compute the same value at the same time, they wait for ever. The lock of this
// function contains no number. The layout is that of the Swift runtime (include/swift/Threading/Impl/Linux.h in its
// source). At first, both members are 0.
struct once {
    int32_t is_done;
    int32_t lock;
};

enum { FREE, LOCKED, CONTENDED };

// This is the mutex from Ulrich Drepper's "Futexes Are Tricky".
static void lock(int32_t *lock) {
    int32_t seen = FREE;
    if (__atomic_compare_exchange_n(lock, &seen, LOCKED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_exchange_n(lock, CONTENDED, __ATOMIC_ACQUIRE) != FREE)
        syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, CONTENDED, (void *)0, (void *)0, 0);
}

static void unlock(int32_t *lock) {
    if (__atomic_exchange_n(lock, FREE, __ATOMIC_RELEASE) == CONTENDED)
        syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, (void *)0, (void *)0, 0);
}

void __wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_(
    struct once *once, void (*compute)(void *), void *context) {
    bhl_computation_begins();
    lock(&once->lock);
    if (!__atomic_load_n(&once->is_done, __ATOMIC_ACQUIRE)) {
        compute(context);
        __atomic_store_n(&once->is_done, -1, __ATOMIC_RELEASE);
    }
    unlock(&once->lock);
    bhl_computation_ends();
}

// MARK: Types

#define SWIFT __attribute__((swiftcall))
#define C

// The result of a function that returns two words, such as a type and how complete it is.
struct response {
    const void *first;
    size_t second;
};

// Replaces a function of the runtime. `convention`: SWIFT or C, as in the runtime's header swift/Runtime/Metadata.h.
// The name `__real_…` of the original function exists only in builds in which the linker replaces this function. In
// other builds, the name is missing, so its declaration is weak.
#define REPLACE(result, convention, name, parameters, arguments)                                                       \
    convention __attribute__((weak)) result __real_##name parameters;                                                  \
    convention result __wrap_##name parameters;                                                                        \
    convention result __wrap_##name parameters {                                                                       \
        bhl_computation_begins();                                                                                      \
        result found = __real_##name arguments;                                                                        \
        bhl_computation_ends();                                                                                        \
        return found;                                                                                                  \
    }

typedef const void *any;

REPLACE(any, SWIFT, swift_getTypeByMangledNameInContext2, (any name, size_t length, any context, any generic),
        (name, length, context, generic))
REPLACE(any, SWIFT, swift_getTypeByMangledNameInContextInMetadataState2,
        (size_t state, any name, size_t length, any context, any generic), (state, name, length, context, generic))
REPLACE(any, SWIFT, swift_getTypeByMangledNameInContext, (any name, size_t length, any context, any generic),
        (name, length, context, generic))
REPLACE(any, SWIFT, swift_getTypeByMangledNameInEnvironment,
        (any name, size_t length, any environment, any generic), (name, length, environment, generic))
REPLACE(struct response, SWIFT, swift_getGenericMetadata, (size_t request, any generic, any description),
        (request, generic, description))
REPLACE(struct response, SWIFT, swift_getCanonicalPrespecializedGenericMetadata,
        (size_t request, any generic, any description, void *token), (request, generic, description, token))
REPLACE(struct response, SWIFT, swift_getCanonicalSpecializedMetadata, (size_t request, any candidate, void *cache),
        (request, candidate, cache))
REPLACE(struct response, SWIFT, swift_getTupleTypeMetadata,
        (size_t request, size_t flags, any elements, any labels, any witnesses),
        (request, flags, elements, labels, witnesses))
REPLACE(struct response, SWIFT, swift_getTupleTypeMetadata2,
        (size_t request, any first, any second, any labels, any witnesses), (request, first, second, labels, witnesses))
REPLACE(struct response, SWIFT, swift_getTupleTypeMetadata3,
        (size_t request, any first, any second, any third, any labels, any witnesses),
        (request, first, second, third, labels, witnesses))
REPLACE(struct response, SWIFT, swift_getForeignTypeMetadata, (size_t request, any candidate), (request, candidate))
REPLACE(struct response, SWIFT, swift_getSingletonMetadata, (size_t request, any description), (request, description))
REPLACE(struct response, SWIFT, swift_checkMetadataState, (size_t request, any type), (request, type))
REPLACE(struct response, SWIFT, swift_getAssociatedTypeWitness,
        (size_t request, any table, any type, any base, any associated), (request, table, type, base, associated))
REPLACE(any, SWIFT, swift_getAssociatedConformanceWitness,
        (any table, any type, any associated, any base, any conformance), (table, type, associated, base, conformance))
REPLACE(struct response, SWIFT, swift_allocBox, (any type), (type))
REPLACE(struct response, SWIFT, swift_getTypeName, (any type, size_t is_qualified), (type, is_qualified))
REPLACE(any, C, swift_getWitnessTable, (any conformance, any type, any arguments), (conformance, type, arguments))
REPLACE(any, C, swift_getFunctionTypeMetadata1, (size_t flags, any argument, any result), (flags, argument, result))
REPLACE(any, C, swift_conformsToProtocol, (any type, any protocol), (type, protocol))
REPLACE(any, C, swift_conformsToProtocol2, (any type, any protocol), (type, protocol))
REPLACE(any, C, swift_conformsToProtocolCommon, (any type, any protocol), (type, protocol))
REPLACE(any, C, swift_getMetatypeMetadata, (any instance), (instance))
REPLACE(any, C, swift_getExistentialMetatypeMetadata, (any instance), (instance))
REPLACE(any, C, swift_dynamicCastMetatype, (any source, any target), (source, target))
REPLACE(any, C, swift_getExistentialTypeMetadata,
        (size_t class_constraint, any superclass, size_t count, any protocols),
        (class_constraint, superclass, count, protocols))
REPLACE(bool, C, swift_dynamicCast, (void *target, void *source, any source_type, any target_type, size_t flags),
        (target, source, source_type, target_type, flags))
