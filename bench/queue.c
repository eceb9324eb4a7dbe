/*
 * Fills a store with tasks, and measures how fast an engine with that store starts. A store is a directory with all
 * durable data. Its engine, the process that runs the tasks, is a daemon here.
 *
 *   queue fill STORE FOLDER COUNT AT_ONCE URL…
 *       enqueues COUNT downloads, with each URL in turn. At most AT_ONCE downloads run at the same time. Prints the
 *       seconds of the enqueue, and exits at the end of its standard input.
 *   queue start STORE PORT
 *       listens at 127.0.0.1:PORT without ever responding, and opens the store, which starts the daemon. Prints the
 *       seconds until the session is attached, and the seconds until the first byte of a request has arrived. At the
 *       end of its standard input, closes the store and prints "closed", but continues to listen until it is killed.
 *       If the program ended before the daemon, the daemon's requests would fail. The tasks would then wait for their
 *       retry delays at the next start.
 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <backhaul.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 10000, PATH_SIZE = 512, CONNECTIONS = 1024, PER_ORIGIN = 256, MOST = 1024, WAIT_MS = 600000 };

static bh_error error = BH_INIT(bh_error);
static int listener;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    fprintf(stderr, "queue: %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(1);
}

static bh_application *open_store(const char *store) {
    bh_application *application = NULL;
    bh_application_options options = BH_INIT(bh_application_options);
    options.identifier = "org.example.queue";
    options.store = store;
    check(bh_application_open(&options, WAIT_MS, &application, &error), "open");
    return application;
}

static void wait_for_end_of_input(void) {
    fflush(stdout);
    while (getchar() != EOF) continue;
}

static void enqueue(bh_session *session, const char *folder, size_t count, char **urls, size_t url_count) {
    bh_request *requests = calloc(BATCH, sizeof *requests);
    char (*destinations)[PATH_SIZE] = calloc(BATCH, sizeof *destinations);
    if (!requests || !destinations) abort();
    for (size_t done = 0; done < count; done += BATCH) {
        size_t size = count - done < BATCH ? count - done : BATCH;
        for (size_t i = 0; i < size; i++) {
            snprintf(destinations[i], PATH_SIZE, "%s/%zu", folder, done + i);
            requests[i] = (bh_request)BH_INIT(bh_request);
            requests[i].url = urls[(done + i) % url_count];
            requests[i].destination = destinations[i];
        }
        check(bh_session_enqueue(session, requests, size, WAIT_MS, NULL, &error), "enqueue");
    }
    free(destinations);
    free(requests);
}

static void fill(char **arguments, size_t url_count) {
    bh_session *session = NULL;
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_limits limits = BH_INIT(bh_limits);
    bh_application *application = open_store(arguments[0]);
    limits.maximum_running_tasks = limits.maximum_connections = MOST;
    check(bh_store_set_limits(application, &limits, WAIT_MS, &error), "limits");
    configuration.identifier = "queue";
    configuration.connections_per_origin = PER_ORIGIN;
    configuration.maximum_running_tasks = (uint32_t)atoi(arguments[3]);
    configuration.rules.request_timeout_ms = 3600000;
    check(bh_session_create(application, &configuration, BH_ROLE_PRODUCE, WAIT_MS, &session, NULL, &error), "create");
    double start = now();
    enqueue(session, arguments[1], (size_t)atol(arguments[2]), arguments + 4, url_count);
    printf("%.6f\n", now() - start);
    wait_for_end_of_input();
    bh_session_close(session);
    bh_application_close(application);
}

/* Accepts connections, and reads nothing. Stores the time of the first byte in `result`. */
static void *first_byte(void *result) {
    static struct pollfd polled[CONNECTIONS];
    nfds_t count = 1;
    polled[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (;;) {
        if (poll(polled, count, -1) < 0) abort();
        for (nfds_t i = 1; i < count; i++) {
            if (!(polled[i].revents & POLLIN)) continue;
            *(double *)result = now();
            return NULL;
        }
        if (polled[0].revents && count < CONNECTIONS)
            polled[count++] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
    }
}

static void start(const char *store, int port) {
    pthread_t server;
    bh_session *session = NULL;
    double begin, attached, first;
    int yes = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
        bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, CONNECTIONS) ||
        pthread_create(&server, NULL, first_byte, &first)) {
        perror("queue");
        exit(1);
    }
    begin = now();
    bh_application *application = open_store(store);
    check(bh_session_attach(application, "queue", BH_ROLE_CONSUME, WAIT_MS, &session, &error), "attach");
    attached = now();
    pthread_join(server, NULL);
    printf("%.6f %.6f\n", attached - begin, first - begin);
    wait_for_end_of_input();
    bh_session_close(session);
    bh_application_close(application);
    puts("closed");
    fflush(stdout);
    for (;;) pause();
}

int main(int argc, char **argv) {
    alarm(WAIT_MS / 1000); /* if no request comes, the alarm ends the measurement */
    if (argc >= 7 && strcmp(argv[1], "fill") == 0) {
        fill(argv + 2, (size_t)(argc - 6));
    } else if (argc == 4 && strcmp(argv[1], "start") == 0) {
        start(argv[2], atoi(argv[3]));
    } else {
        fprintf(stderr, "usage: queue fill STORE FOLDER COUNT AT_ONCE URL... | queue start STORE PORT\n");
        return 2;
    }
    return 0;
}
