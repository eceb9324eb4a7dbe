// The mutex of a value that is computed only one time. The mutex does not contain the number of the thread that owns
// it. BackhaulPlatform/Once.swift explains why.

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// The layout is the same as in the Swift runtime (include/swift/Threading/Impl/Linux.h in its source). At first, both
// members are 0.
struct bhl_once {
    int32_t is_done;
    int32_t lock;
};

enum { BHL_FREE, BHL_LOCKED, BHL_CONTENDED };

// This is the mutex from Ulrich Drepper's "Futexes Are Tricky".
static inline void bhl_once_lock(int32_t *lock) {
    int32_t seen = BHL_FREE;
    if (__atomic_compare_exchange_n(lock, &seen, BHL_LOCKED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    while (__atomic_exchange_n(lock, BHL_CONTENDED, __ATOMIC_ACQUIRE) != BHL_FREE)
        syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, BHL_CONTENDED, (void *)0, (void *)0, 0);
}

static inline void bhl_once_unlock(int32_t *lock) {
    if (__atomic_exchange_n(lock, BHL_FREE, __ATOMIC_RELEASE) == BHL_CONTENDED)
        syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, (void *)0, (void *)0, 0);
}

static inline void bhl_run_once(struct bhl_once *once, void (*compute)(void *), void *context) {
    bhl_once_lock(&once->lock);
    if (!__atomic_load_n(&once->is_done, __ATOMIC_ACQUIRE)) {
        compute(context);
        __atomic_store_n(&once->is_done, -1, __ATOMIC_RELEASE);
    }
    bhl_once_unlock(&once->lock);
}
