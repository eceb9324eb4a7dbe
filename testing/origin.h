// The resources of the origin, and what is known about each request.

#ifndef ORIGIN_H
#define ORIGIN_H

#include "kit.h"

enum { NOWHERE = -1 };

// One response of the script.
struct fault {
    struct fault *next;
    int status;   // 0: the resource's own
    char *fields; // or NULL
    int64_t drop_at, stall_at, wrong_at;
};

// A content that responses may still use after it was replaced.
struct content {
    int references;
    uint64_t version, size;
    uint8_t bytes[];
};

struct logged {
    bht_request request;
    char *head;
    void *body;
};

struct bht_resource {
    bht_resource *next;
    bht_testbed *testbed;
    struct origin *origin;
    char *path, *url;
    struct content *content;
    char *authorization; // the value of the field that is required, or NULL
    struct fault *faults, **last_fault;
    uint64_t releases; // how often stalls were released
    uint64_t sent;     // all bytes before this one were sent
    struct logged **log;
    size_t log_count;
};

struct connection {
    struct connection *next, **link;
    struct origin *origin;
    int socket;
    bool is_sending;             // false while it waits for a request, or at a stall
    const bht_resource *stalled; // the resource at whose stall it waits, or NULL
};

struct origin {
    pthread_mutex_t lock; // of all fields below, and of resources
    pthread_cond_t changed, ended;
    int listener;
    uint16_t port;
    char url[64];
    pthread_t thread;
    bool is_closing;
    struct connection *connections;
    bht_resource *resources;
};

// Serves the requests of one connection, until it ends.
void serve_connection(struct connection *connection);

void release_content(struct content *content);
void free_fault(struct fault *fault);

#endif
