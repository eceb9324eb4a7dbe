// The points at which a test lets the daemon die. The test sets a point in the control page.

#define _GNU_SOURCE
#include "preload.h"
#include <signal.h>

// Whether a file was placed, and no sync of a transaction has begun since.
static bool is_placed;

void reach(bht_point point) {
    if (!control || __atomic_load_n(&control->point, __ATOMIC_SEQ_CST) != (uint32_t)point) return;
    if (__atomic_sub_fetch(&control->left, 1, __ATOMIC_SEQ_CST)) return;
    __atomic_store_n(&control->point, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&control->died, (uint32_t)getpid(), __ATOMIC_SEQ_CST);
    control_bump(&control->reports);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// Whether a path has the name of an unfinished file, such as .backhaul-1f-2.part.
static bool is_part(const char *path) {
    const char *name = strrchr(path, '/');
    size_t size = strlen(name = name ? name + 1 : path);
    return !strncmp(name, ".backhaul-", 10) && size > 15 && !strcmp(name + size - 5, ".part");
}

void before_move(const char *from, const char *to) {
    if (is_part(from) && !is_part(to)) reach(BHT_POINT_RECEIVED);
}

void after_move(const char *from, const char *to) {
    if (!is_part(from) || is_part(to)) return;
    reach(BHT_POINT_PLACED);
    __atomic_store_n(&is_placed, true, __ATOMIC_SEQ_CST);
}

// SQLite syncs its log at the end of a transaction. A sync that began before a file was placed does not store the end
// of its task.
bool stores_end(const char *path) {
    size_t size = strlen(path);
    return size > 4 && !strcmp(path + size - 4, "-wal") && __atomic_exchange_n(&is_placed, false, __ATOMIC_SEQ_CST);
}
