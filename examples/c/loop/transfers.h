/* The part of the examples epoll.c, libuv.c and glib.c that does not depend on the event loop. */
#ifndef TRANSFERS_H
#define TRANSFERS_H

#include <backhaul.h>

enum { SESSION, PROGRESS, APPLICATION, DESCRIPTORS };

struct transfers {
    bh_application *application;
    bh_session *session;
    int descriptors[DESCRIPTORS]; /* the loop calls transfers_readable while one of them is readable */
    uint64_t handled;             /* id of the last event that the program has handled */
    bool is_polling;
    bool is_over; /* the loop can end */
    int failures;
};

/* Opens the session and starts the enqueue of the tasks. The call waits for the engine, so it comes before the loop. */
void transfers_open(struct transfers *transfers, const char *url, const char *folder, const char *upload);

/* Reads what has arrived. The call does not wait for the engine. */
void transfers_readable(struct transfers *transfers, int descriptor);

/* Before this call, the loop must stop watching the descriptors. Returns the exit status of the program. */
int transfers_close(struct transfers *transfers);

#endif
