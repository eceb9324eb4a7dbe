/* The program of epoll.c with an event loop of GLib, as programs with GTK or GIO have it. */
#include "loop/transfers.h"
#include <glib-unix.h>
#include <stdio.h>

static struct transfers transfers;
static GMainLoop *loop;

static gboolean readable(gint descriptor, GIOCondition condition, gpointer index) {
    (void)descriptor;
    (void)condition;
    transfers_readable(&transfers, GPOINTER_TO_INT(index));
    if (transfers.is_over) g_main_loop_quit(loop);
    return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv) {
    guint watches[DESCRIPTORS];
    if (argc != 4) {
        fprintf(stderr, "usage: glib URL FOLDER FILE\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    loop = g_main_loop_new(NULL, FALSE);
    transfers_open(&transfers, argv[1], argv[2], argv[3]);
    for (int i = 0; i < DESCRIPTORS; i++)
        watches[i] = g_unix_fd_add(transfers.descriptors[i], G_IO_IN, readable, GINT_TO_POINTER(i));
    g_main_loop_run(loop);
    for (int i = 0; i < DESCRIPTORS; i++) g_source_remove(watches[i]);
    g_main_loop_unref(loop);
    return transfers_close(&transfers);
}
