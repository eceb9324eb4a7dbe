/*
 * A host that returns from main while TLS transfers run in the library's threads. The host closes no handle.
 *
 *   exit_during_transfer STORE FOLDER URL CA_FILE STATUS
 *
 * The exit status is STATUS (0 to 99), or 100 if the transfers did not start.
 */
#define _POSIX_C_SOURCE 200809L
#include <backhaul.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DOWNLOADS 6
#define NOT_GOING 100

static bh_error error = BH_INIT(bh_error);

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    fprintf(stderr, "exit_during_transfer: %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(NOT_GOING);
}

static int moving(bh_session *session) {
    bh_batch *tasks = NULL;
    int count = 0;
    check(bh_session_tasks(session, NULL, 0, DOWNLOADS, BH_WAIT_DEFAULT, &tasks, &error), "tasks");
    for (size_t i = 0; i < bh_batch_count(tasks); i++) count += bh_batch_task_at(tasks, i)->offset > 0;
    bh_batch_release(tasks);
    return count;
}

int main(int argc, char **argv) {
    bh_application *application = NULL;
    bh_session *session = NULL;
    bh_application_options options = BH_INIT(bh_application_options);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_request requests[DOWNLOADS];
    char destinations[DOWNLOADS][512];
    struct timespec moment = {0, 10 * 1000 * 1000};
    if (argc != 6) return NOT_GOING;
    options.identifier = "org.example.exit_during_transfer";
    options.store = argv[1];
    options.hosting = BH_HOSTING_EMBEDDED;
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error), "open");
    configuration.identifier = "exit_during_transfer";
    configuration.tls.ca_file = argv[4];
    check(bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL, &error),
          "create");
    for (int i = 0; i < DOWNLOADS; i++) {
        snprintf(destinations[i], sizeof destinations[i], "%s/%d", argv[2], i);
        requests[i] = (bh_request)BH_INIT(bh_request);
        requests[i].url = argv[3];
        requests[i].destination = destinations[i];
    }
    check(bh_session_enqueue(session, requests, DOWNLOADS, BH_WAIT_DEFAULT, NULL, &error), "enqueue");
    for (int i = 0; moving(session) < DOWNLOADS; i++) {
        if (i == 2000) return NOT_GOING;
        nanosleep(&moment, NULL);
    }
    return atoi(argv[5]);
}
