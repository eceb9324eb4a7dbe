/*
 * A host with many open descriptors. Its store, the directory with all data, has many
 * request bodies (the data of uploads).
 *
 *   many_bodies fill|use STORE FOLDER URL DESCRIPTORS BODIES [DAEMON]
 *
 * `fill` enqueues BODIES suspended uploads of a file that the store copies. `use` opens the store again, so that the
 * engine lists the store's bodies. Then `use` downloads URL, cancels the uploads and acknowledges every event. If
 * DAEMON is given, the program at this path runs the engine. Otherwise the engine runs in the process of many_bodies.
 * The exit status is 0 if every call succeeded.
 */
#define _POSIX_C_SOURCE 200809L
#include <backhaul.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 500
#define PATIENCE 300000

static bh_error error = BH_INIT(bh_error);

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    fprintf(stderr, "many_bodies: %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(1);
}

static void expect(int is_true, const char *what) {
    if (is_true) return;
    fprintf(stderr, "many_bodies: %s\n", what);
    exit(1);
}

static void enqueue_uploads(bh_session *session, const char *url, const char *file, int count) {
    bh_request requests[AT_ONCE];
    for (int done = 0; done < count; done += AT_ONCE) {
        int some = count - done < AT_ONCE ? count - done : AT_ONCE;
        for (int i = 0; i < some; i++) {
            requests[i] = (bh_request)BH_INIT(bh_request);
            requests[i].url = url;
            requests[i].body_file = file;
            requests[i].body_source = BH_BODY_SNAPSHOT;
            requests[i].flags = BH_REQUEST_STARTS_SUSPENDED;
        }
        check(bh_session_enqueue(session, requests, (size_t)some, PATIENCE, NULL, &error), "enqueue uploads");
    }
}

static void enqueue_download(bh_session *session, const char *url, const char *folder) {
    char destination[4096];
    bh_request request = BH_INIT(bh_request);
    snprintf(destination, sizeof destination, "%s/file", folder);
    request.url = url;
    request.destination = destination;
    check(bh_session_enqueue(session, &request, 1, PATIENCE, NULL, &error), "enqueue a download");
}

/* Reads events until the tasks have ended. Returns how many tasks succeeded. */
static int read_events(bh_session *session, int tasks) {
    int succeeded = 0;
    uint64_t last = 0;
    while (tasks > 0) {
        bh_batch *batch = NULL;
        check(bh_session_poll(session, 0, AT_ONCE, PATIENCE, &batch, &error), "poll");
        size_t count = bh_batch_count(batch);
        expect(count > 0, "no event came");
        for (size_t i = 0; i < count; i++) {
            const bh_event *event = bh_batch_event_at(batch, i);
            last = event->id;
            if (event->kind != BH_EVENT_TASK_ENDED) continue;
            tasks--;
            succeeded += event->task_state == BH_TASK_SUCCEEDED;
        }
        check(bh_session_acknowledge_through(session, last, PATIENCE, NULL, &error), "acknowledge");
        bh_batch_release(batch);
    }
    return succeeded;
}

int main(int argc, char **argv) {
    bh_application_options options = BH_INIT(bh_application_options);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_application *application = NULL;
    bh_session *session = NULL;
    if (argc != 7 && argc != 8) return 2;
    int bodies = atoi(argv[6]);
    for (int i = 0; i < atoi(argv[5]); i++) expect(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0, "no descriptor");
    options.identifier = "org.example.many_bodies";
    options.store = argv[2];
    options.hosting = argc == 8 ? BH_HOSTING_DAEMON : BH_HOSTING_EMBEDDED;
    options.daemon = argc == 8 ? argv[7] : NULL;
    check(bh_application_open(&options, PATIENCE, &application, &error), "open");
    configuration.identifier = "many_bodies";
    check(bh_session_create(application, &configuration, BH_ROLE_CONSUME, PATIENCE, &session, NULL, &error), "create");
    if (strcmp(argv[1], "fill") == 0) {
        char file[4096];
        snprintf(file, sizeof file, "%s/body", argv[3]);
        enqueue_uploads(session, argv[4], file, bodies);
    } else {
        enqueue_download(session, argv[4], argv[3]);
        expect(read_events(session, 1) == 1, "the download failed");
        check(bh_tasks_cancel(session, NULL, PATIENCE, NULL, &error), "cancel");
        expect(read_events(session, bodies) == 0, "a cancelled upload succeeded");
    }
    bh_session_close(session);
    bh_application_close(application);
    return 0;
}
