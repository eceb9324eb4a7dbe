/*
 * A program that uses the library. The bench measures how long this program takes. The program enqueues a list of
 * transfers, and waits until all of them have ended. It acknowledges every event: every stored message that a transfer
 * has ended.
 *
 *   bench_host daemon|embedded get|put STORE LIST [CA_FILE [AT_ONCE]]
 *
 * Each line of LIST is "URL<tab>destination", or with put "URL<tab>file to upload". An empty CA_FILE means the
 * authorities of the system. The program uses no idempotency keys. It runs AT_ONCE transfers at the same time. If
 * AT_ONCE is missing, it runs 32, like the other programs that the bench compares. If a task failed, the exit status
 * is 1.
 */
#define _POSIX_C_SOURCE 200809L
#include <backhaul.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_AT_ONCE = 32 };

static bh_error error = BH_INIT(bh_error);

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    fprintf(stderr, "bench_host: %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(1);
}

static char *whole_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    if (size >= 0) text = calloc(1, (size_t)size + 1);
    if (!text || fseek(file, 0, SEEK_SET) != 0 || fread(text, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

static void enqueue(bh_session *session, char *text, int uploads) {
    size_t count = 0, room = 0;
    bh_request *requests = NULL;
    for (char *url = strtok(text, "\t\n"); url; url = strtok(NULL, "\t\n")) {
        if (count == room) {
            room = room ? room * 2 : 1024;
            requests = realloc(requests, room * sizeof *requests);
            if (!requests) abort();
        }
        requests[count] = (bh_request)BH_INIT(bh_request);
        requests[count].url = url;
        *(uploads ? &requests[count].body_file : &requests[count].destination) = strtok(NULL, "\t\n");
        count++;
    }
    check(bh_session_enqueue(session, requests, count, BH_WAIT_DEFAULT, NULL, &error), "enqueue");
    free(requests);
}

/* Waits until all transfers have ended, and acknowledges all events. Returns the number of failed tasks. */
static int wait_and_acknowledge(bh_session *session) {
    int finished = 0, failed = 0;
    while (!finished) {
        bh_batch *events = NULL;
        check(bh_session_poll(session, 0, 10000, BH_WAIT_DEFAULT, &events, &error), "poll");
        size_t count = bh_batch_count(events);
        for (size_t i = 0; i < count; i++) {
            const bh_event *event = bh_batch_event_at(events, i);
            if (event->kind == BH_EVENT_SESSION_FINISHED)
                finished = 1;
            else if (event->task_state != BH_TASK_SUCCEEDED) {
                fprintf(stderr, "bench_host: %s: %s\n", event->url, event->error_message);
                failed++;
            }
        }
        if (count)
            check(bh_session_acknowledge_through(session, bh_batch_event_at(events, count - 1)->id, BH_WAIT_DEFAULT,
                                                 NULL, &error),
                  "acknowledge");
        bh_batch_release(events);
    }
    return failed;
}

int main(int argc, char **argv) {
    bh_application *application = NULL;
    bh_session *session = NULL;
    bh_application_options options = BH_INIT(bh_application_options);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    if (argc < 5 || argc > 7) {
        fprintf(stderr, "usage: bench_host daemon|embedded get|put STORE LIST [CA_FILE [AT_ONCE]]\n");
        return 2;
    }
    unsigned long at_once = argc > 6 ? strtoul(argv[6], NULL, 10) : DEFAULT_AT_ONCE;
    if (at_once < 1 || at_once > UINT16_MAX) {
        fprintf(stderr, "bench_host: AT_ONCE is not a number from 1 to %d\n", UINT16_MAX);
        return 2;
    }
    options.identifier = "org.example.bench";
    options.hosting = strcmp(argv[1], "daemon") == 0 ? BH_HOSTING_DAEMON : BH_HOSTING_EMBEDDED;
    options.store = argv[3];
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error), "open");
    configuration.identifier = "bench";
    configuration.connections_per_origin = (uint32_t)at_once;
    configuration.maximum_running_tasks = (uint32_t)at_once;
    configuration.tls.ca_file = argc > 5 && argv[5][0] ? argv[5] : NULL;
    check(bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL, &error),
          "create");
    char *text = whole_file(argv[4]);
    enqueue(session, text, strcmp(argv[2], "put") == 0);
    free(text);
    int failed = wait_and_acknowledge(session);
    check(bh_session_complete(session, BH_WAIT_DEFAULT, &error), "complete");
    bh_session_close(session);
    bh_application_close(application);
    return failed ? 1 : 0;
}
