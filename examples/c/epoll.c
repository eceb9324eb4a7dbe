/*
 * A program with an event loop of epoll(7): 20 downloads and an upload, with progress and a server that demands a
 * credential. The program can be killed at any time. Then Backhaul's daemon continues the transfers, and the next run
 * reports what has ended meanwhile.
 *
 *   epoll URL FOLDER FILE   downloads URL/1 to URL/20 into FOLDER (an absolute path), and uploads FILE to URL/upload.
 *                           The variables LOOP_USER and LOOP_PASSWORD have the credential
 */
#include "loop/transfers.h"
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct transfers transfers;
    if (argc != 4) {
        fprintf(stderr, "usage: epoll URL FOLDER FILE\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    int loop = epoll_create1(EPOLL_CLOEXEC);
    if (loop < 0) {
        perror("epoll_create1");
        return 1;
    }
    transfers_open(&transfers, argv[1], argv[2], argv[3]);
    for (int i = 0; i < DESCRIPTORS; i++) {
        struct epoll_event watched = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        if (epoll_ctl(loop, EPOLL_CTL_ADD, transfers.descriptors[i], &watched) < 0) {
            perror("epoll_ctl");
            return 1;
        }
    }
    while (!transfers.is_over) {
        struct epoll_event ready[DESCRIPTORS];
        int count = epoll_wait(loop, ready, DESCRIPTORS, -1);
        if (count < 0 && errno != EINTR) {
            perror("epoll_wait");
            return 1;
        }
        for (int i = 0; i < count; i++) transfers_readable(&transfers, (int)ready[i].data.u32);
    }
    close(loop);
    return transfers_close(&transfers);
}
