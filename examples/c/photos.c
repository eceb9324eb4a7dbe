/*
 * A small program that downloads the files of a list. Backhaul's engine makes the transfers inside this program.
 *
 *   photos STORE LIST   enqueues the files of LIST and waits for them. Each line is "URL<tab>destination"
 *   photos STORE        attaches to the session of an earlier run, and waits for the remaining files
 *
 * STORE is the directory with all data of the transfers. If the program is killed and started again, no file is lost,
 * and none is downloaded twice. After all files have arrived, a run with the same list downloads the files that have
 * changed.
 */
#define _POSIX_C_SOURCE 200809L
#include <backhaul.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bh_error error = BH_INIT(bh_error);

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    fprintf(stderr, "photos: cannot %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(1);
}

/* Enqueues the whole list in one call. The requests have keys, so the call may be repeated after a crash. */
static void enqueue_list(bh_session *session, const char *path) {
    bh_request *requests = NULL;
    size_t count = 0, room = 0;
    char *line = NULL;
    FILE *list = fopen(path, "r");
    if (!list) {
        perror(path);
        exit(1);
    }
    while (getline(&line, &room, list) > 0) {
        char key[24], *url = strtok(line, "\t\n"), *destination = strtok(NULL, "\t\n");
        if (!destination) continue;
        snprintf(key, sizeof key, "photo-%zu", count);
        requests = realloc(requests, (count + 1) * sizeof *requests);
        if (!requests) abort();
        requests[count] = (bh_request)BH_INIT(bh_request);
        requests[count].url = strdup(url);
        requests[count].destination = strdup(destination);
        requests[count].idempotency_key = strdup(key);
        requests[count].if_exists = BH_IF_EXISTS_REPLACE;
        requests[count].flags = BH_REQUEST_IF_CHANGED;
        count++;
    }
    check(bh_session_enqueue(session, requests, count, BH_WAIT_DEFAULT, NULL, &error), "enqueue the list");
    printf("enqueued %zu files\n", count);
    while (count--) {
        free((char *)requests[count].url);
        free((char *)requests[count].destination);
        free((char *)requests[count].idempotency_key);
    }
    free(requests);
    free(line);
    fclose(list);
}

/* Prints the event. Returns 1 if the event reports that all tasks have ended. */
static int show(const bh_event *event) {
    if (event->kind == BH_EVENT_SESSION_FINISHED) {
        printf("round %" PRIu64 " finished\n", event->round);
        return 1;
    }
    if (event->task_state == BH_TASK_SUCCEEDED)
        printf("done %" PRIu64 " %" PRIu64 " %s\n", event->task_id, event->size, event->path);
    else
        printf("lost %" PRIu64 " %s: %s\n", event->task_id, event->url, event->error_message);
    return 0;
}

int main(int argc, char **argv) {
    bh_application *application = NULL;
    bh_session *session = NULL;
    bh_application_options options = BH_INIT(bh_application_options);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    int finished = 0;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: photos STORE [LIST]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    options.identifier = "org.example.photos";
    options.store = argv[1];
    options.hosting = BH_HOSTING_EMBEDDED; /* the engine is in this process, and ends with it */
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error), "open the store");
    if (argc == 3) {
        configuration.identifier = "gallery";
        check(bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL, &error),
              "create the session");
        enqueue_list(session, argv[2]);
    } else {
        check(bh_session_attach(application, "gallery", BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, &error),
              "attach to the session");
    }
    while (!finished) {
        bh_batch *events = NULL;
        check(bh_session_poll(session, 0, 100, 1000, &events, &error), "poll");
        size_t count = bh_batch_count(events);
        for (size_t i = 0; i < count; i++) finished |= show(bh_batch_event_at(events, i));
        if (count)
            check(bh_session_acknowledge_through(session, bh_batch_event_at(events, count - 1)->id, BH_WAIT_DEFAULT,
                                                 NULL, &error),
                  "acknowledge");
        else { /* if an earlier run has acknowledged the last event, no task is left */
            bh_batch *tasks = NULL;
            check(bh_session_tasks(session, NULL, 0, 1, BH_WAIT_DEFAULT, &tasks, &error), "list the tasks");
            finished = bh_batch_count(tasks) == 0;
            bh_batch_release(tasks);
        }
        bh_batch_release(events);
    }
    check(bh_session_complete(session, BH_WAIT_DEFAULT, &error), "complete the session");
    bh_session_close(session);
    bh_application_close(application);
    return 0;
}
