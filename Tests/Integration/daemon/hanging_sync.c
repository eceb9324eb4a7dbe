/* A preloaded library with which the first sync after the file at HANGING_SYNC was made never returns, as with a disk
 * that does not reply. The sync removes this file. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int synchronize(long number, int descriptor) {
    const char *mark = getenv("HANGING_SYNC");
    if (mark != NULL && unlink(mark) == 0)
        for (;;) pause();
    return (int)syscall(number, descriptor);
}

int fsync(int descriptor) { return synchronize(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return synchronize(SYS_fdatasync, descriptor); }
