/* The program of epoll.c with an event loop of libuv. */
#define _POSIX_C_SOURCE 200809L
#include "loop/transfers.h"
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static struct transfers transfers;
static uv_poll_t watches[DESCRIPTORS];

static void check(int result, const char *what) {
    if (result == 0) return;
    fprintf(stderr, "%s: %s\n", what, uv_strerror(result));
    exit(1);
}

static void readable(uv_poll_t *watch, int status, int events) {
    (void)events;
    check(status, "a descriptor");
    transfers_readable(&transfers, (int)(watch - watches));
    if (!transfers.is_over) return;
    /* libuv ends the process if a descriptor is closed while it is watched. So the watches end first. */
    for (int i = 0; i < DESCRIPTORS; i++)
        if (!uv_is_closing((uv_handle_t *)&watches[i])) uv_close((uv_handle_t *)&watches[i], NULL);
}

int main(int argc, char **argv) {
    uv_loop_t loop;
    if (argc != 4) {
        fprintf(stderr, "usage: libuv URL FOLDER FILE\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    check(uv_loop_init(&loop), "uv_loop_init");
    transfers_open(&transfers, argv[1], argv[2], argv[3]);
    for (int i = 0; i < DESCRIPTORS; i++) {
        check(uv_poll_init(&loop, &watches[i], transfers.descriptors[i]), "uv_poll_init");
        check(uv_poll_start(&watches[i], UV_READABLE, readable), "uv_poll_start");
    }
    check(uv_run(&loop, UV_RUN_DEFAULT), "uv_run");
    check(uv_loop_close(&loop), "uv_loop_close");
    return transfers_close(&transfers);
}
