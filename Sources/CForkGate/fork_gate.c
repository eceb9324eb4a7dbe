// Keeps the locks of the Swift runtime free in forked children.
//
// The Swift runtime computes types and global values when they are first used, and holds locks meanwhile. If a thread
// of the parent computes a value during a fork, the child has these locks in their locked state, but not the thread
// that would release them. In the child, the next use of such a lock would wait for ever. So the functions of the
// runtime that compute values are replaced (by options of the linker in the Makefile): each replacement calls the
// original function between `bhl_computation_begins` and `bhl_computation_ends`, and the handlers of pthread_atfork
// wait for the end of computations. A computation takes microseconds, and does not wait for the host.
//
// Builds without these options of the linker do not use the replacements.

#include "fork_gate.h"

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
// The nested computations of this thread. While this number is not 0, the thread may hold locks of the runtime, so it
// must not wait for a fork.
static _Thread_local int depth;
static _Thread_local bool forks;

// Waits until the number is at most `limit`, for one second at most. A longer wait would disturb the host. After a
// second, the fork may lead to a child that hangs, as without this gate.
static void wait_until_at_most(atomic_int *number, int limit) {
    const struct timespec pause = {0, 20 * 1000};
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (atomic_load(number) > limit) {
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec + (now.tv_nsec >= begin.tv_nsec) > 1) return;
    }
}

__attribute__((noinline)) void bhl_computation_begins(void) {
    if (depth++ > 0) return;
    atomic_fetch_add(&computing, 1);
    if (forks || atomic_load(&forking) == 0) return;
    // A fork may have read `computing` before this thread was counted.
    atomic_fetch_sub(&computing, 1);
    wait_until_at_most(&forking, 0);
    atomic_fetch_add(&computing, 1);
}

__attribute__((noinline)) void bhl_computation_ends(void) {
    if (--depth == 0) atomic_fetch_sub(&computing, 1);
}

static void before_fork(void) {
    forks = true;
    atomic_fetch_add(&forking, 1);
    wait_until_at_most(&computing, depth > 0);
}

static void after_fork_in_parent(void) {
    atomic_fetch_sub(&forking, 1);
    forks = false;
}

static void after_fork_in_child(void) {
    atomic_store(&forking, 0);
    atomic_store(&computing, depth > 0);
    forks = false;
}

// The constructor runs before any other code of the library registers handlers. So in the child, this handler is the
// first one, and in the parent, `before_fork` is the last one.
__attribute__((constructor)) static void register_handlers(void) {
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

// The result of a function that returns a type: the type, and how complete it is.
struct response {
    const void *type;
    size_t state;
};

// Replaces a function of the runtime. `convention`: SWIFT or C, as in the runtime's header swift/Runtime/Metadata.h.
// The original function exists only if the linker replaces it.
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
