/*
 * Measures the time from the last byte of a file on the socket to the wake-up of the host. The host is the program that
 * uses the library: here, this program. The engine, which transfers the files, is in another process.
 *
 *   latency STORE FOLDER COUNT      prints lines, each with a name and COUNT times in microseconds
 *
 * event   from the return of send() for the file's last byte, until the event descriptor is readable
 * read    from the same send(), until the host has the event
 * sync    the minimum cost of a durable file: fdatasync, rename, fsync of the directory
 * wake    the minimum cost of notifying another process: a byte through a socket on which that process waits
 *
 * Backhaul's time includes one `sync`, one `wake`, and two commits of its database: one before the file gets its final
 * name, and one after that.
 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <backhaul.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILE_SIZE = 16 << 10, WARM_UP = 10 };

static bh_error error = BH_INIT(bh_error);
static _Atomic int64_t last_byte_sent;
static char body[FILE_SIZE];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    fprintf(stderr, "latency: %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void print(const char *name, const int64_t *times, int count) {
    printf("%s", name);
    for (int i = 0; i < count; i++) printf(" %.1f", (double)times[i] / 1000);
    printf("\n");
}

/* Responds to every request with the same file. Serves one connection after the other. */
static void *serve(void *argument) {
    int listener = *(int *)argument, yes = 1;
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 16384\r\nETag: \"1\"\r\n\r\n";
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) return NULL;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        char request[8192];
        size_t size = 0;
        ssize_t count;
        while ((count = recv(connection, request + size, sizeof request - size - 1, 0)) > 0) {
            size += (size_t)count;
            request[size] = 0;
            if (!strstr(request, "\r\n\r\n")) continue;
            size = 0;
            if (send(connection, head, sizeof head - 1, MSG_MORE | MSG_NOSIGNAL) < 0) break;
            if (send(connection, body, sizeof body, MSG_NOSIGNAL) != (ssize_t)sizeof body) break;
            last_byte_sent = now();
        }
        close(connection);
    }
}

static int start_server(void) {
    static int listener;
    pthread_t thread;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 8) ||
        getsockname(listener, (struct sockaddr *)&address, &size) || pthread_create(&thread, NULL, serve, &listener))
        fail("server");
    return ntohs(address.sin_port);
}

/* Reads and acknowledges all events up to the one that reports the end of all tasks. Stores in `first_read` the time at
 * which the first events were read. */
static void finish_round(bh_session *session, int64_t *first_read) {
    for (int finished = 0; !finished;) {
        bh_batch *events = NULL;
        check(bh_session_poll(session, 0, 10, 5000, &events, &error), "poll");
        size_t count = bh_batch_count(events);
        if (count && !*first_read) *first_read = now();
        for (size_t i = 0; i < count; i++) {
            const bh_event *event = bh_batch_event_at(events, i);
            if (event->kind == BH_EVENT_SESSION_FINISHED)
                finished = 1;
            else
                check(event->status, event->error_message);
        }
        if (count)
            check(bh_session_acknowledge_through(session, bh_batch_event_at(events, count - 1)->id, BH_WAIT_DEFAULT,
                                                 NULL, &error),
                  "acknowledge");
        bh_batch_release(events);
    }
}

static void measure_events(const char *store, const char *folder, int count) {
    bh_application *application = NULL;
    bh_session *session = NULL;
    bh_application_options options = BH_INIT(bh_application_options);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    int64_t *woken = calloc((size_t)count, sizeof *woken), *read = calloc((size_t)count, sizeof *read);
    char url[64];
    if (!woken || !read) abort();
    snprintf(url, sizeof url, "http://127.0.0.1:%d/file", start_server());
    options.identifier = "org.example.latency";
    options.store = store;
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error), "open");
    configuration.identifier = "latency";
    check(bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL, &error),
          "create");
    struct pollfd polled = {.events = POLLIN};
    check(bh_session_event_fd(session, &polled.fd, &error), "descriptor");
    for (int i = -WARM_UP; i < count; i++) {
        char destination[4096];
        bh_request request = BH_INIT(bh_request);
        snprintf(destination, sizeof destination, "%s/%d", folder, i);
        request.url = url;
        request.destination = destination;
        check(bh_session_enqueue(session, &request, 1, BH_WAIT_DEFAULT, NULL, &error), "enqueue");
        if (poll(&polled, 1, 10000) != 1) fail("no event came");
        int64_t wake_up = now(), first_read = 0, sent = last_byte_sent;
        finish_round(session, &first_read);
        if (i < 0) continue;
        woken[i] = wake_up - sent;
        read[i] = first_read - sent;
    }
    bh_session_close(session);
    bh_application_close(application);
    print("event", woken, count);
    print("read", read, count);
    free(woken);
    free(read);
}

static void measure_syncs(const char *folder, int count) {
    int64_t *times = calloc((size_t)count, sizeof *times);
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!times || directory < 0) fail(folder);
    for (int i = 0; i < count; i++) {
        char name[32], part[32];
        snprintf(name, sizeof name, "raw-%d", i);
        snprintf(part, sizeof part, ".raw-%d.part", i);
        int file = openat(directory, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 || write(file, body, sizeof body) != (ssize_t)sizeof body) fail(part);
        int64_t start = now();
        if (fdatasync(file) || renameat(directory, part, directory, name) || fsync(directory)) fail(name);
        times[i] = now() - start;
        close(file);
    }
    close(directory);
    print("sync", times, count);
    free(times);
}

/* Measures wake-ups of this process. A child process sends messages. Each message has the time at which it is sent. */
static void measure_wake_ups(int count) {
    int pair[2];
    int64_t *times = calloc((size_t)count, sizeof *times), sent;
    if (!times || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) fail("socketpair");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        char byte;
        close(pair[0]);
        while (read(pair[1], &byte, 1) == 1) {
            usleep(2000); /* lets the other process sleep deeply, as a host does */
            sent = now();
            if (write(pair[1], &sent, sizeof sent) != sizeof sent) break;
        }
        _exit(0);
    }
    close(pair[1]);
    struct pollfd polled = {.fd = pair[0], .events = POLLIN};
    for (int i = 0; i < count; i++) {
        if (write(pair[0], "", 1) != 1 || poll(&polled, 1, 10000) != 1) fail("wake-up");
        int64_t woken = now();
        if (read(pair[0], &sent, sizeof sent) != sizeof sent) fail("wake-up");
        times[i] = woken - sent;
    }
    close(pair[0]);
    waitpid(child, NULL, 0);
    print("wake", times, count);
    free(times);
}

int main(int argc, char **argv) {
    int count = argc == 4 ? atoi(argv[3]) : 0;
    if (count < 1) {
        fprintf(stderr, "usage: latency STORE FOLDER COUNT\n");
        return 2;
    }
    memset(body, 'b', sizeof body);
    measure_wake_ups(count);
    measure_syncs(argv[2], count);
    measure_events(argv[1], argv[2], count);
    return 0;
}
