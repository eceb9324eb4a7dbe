#define _POSIX_C_SOURCE 200809L
#include "transfers.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DOWNLOADS = 20, TASKS = DOWNLOADS + 1, PATH_SIZE = 4096 };

/* An operation that was started with BH_START. */
struct operation {
    const char *what;
    void (*ended)(struct transfers *transfers, bh_ticket *ticket); /* reads the result */
};

static bh_error error = BH_INIT(bh_error);

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    fprintf(stderr, "cannot %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(1); /* the transfers continue, and the next run gets all events that are not acknowledged */
}

static void check_started(bh_status status, const struct operation *operation) {
    if (status != BH_STARTED) check(status, operation->what);
    bh_ticket_set_data(error.ticket, (void *)operation);
}

static void poll_ended(struct transfers *transfers, bh_ticket *ticket);
static void last_acknowledged(struct transfers *transfers, bh_ticket *ticket);
static void completed(struct transfers *transfers, bh_ticket *ticket);

static const struct operation enqueue = {"enqueue the tasks", NULL};
static const struct operation watch = {"watch the progress", NULL};
static const struct operation respond = {"respond to the challenge", NULL};
static const struct operation poll_events = {"poll the events", poll_ended};
static const struct operation acknowledge = {"acknowledge the events", NULL};
static const struct operation acknowledge_last = {"acknowledge the last events", last_acknowledged};
static const struct operation complete = {"complete the session", completed};

static void start_enqueue(struct transfers *transfers, const char *url, const char *folder, const char *upload) {
    static char urls[TASKS][PATH_SIZE], paths[DOWNLOADS][PATH_SIZE];
    bh_request requests[TASKS];
    for (int i = 0; i < TASKS; i++) {
        bool is_upload = i == DOWNLOADS;
        bh_request *request = &requests[i];
        bh_init(request, sizeof *request);
        snprintf(urls[i], PATH_SIZE, is_upload ? "%s/upload" : "%s/%d", url, i + 1);
        request->url = urls[i];
        request->idempotency_key = urls[i]; /* after a crash, the next run finds the same task */
        if (is_upload) {
            request->body_file = upload;
            continue;
        }
        snprintf(paths[i], PATH_SIZE, "%s/%d", folder, i + 1);
        request->destination = paths[i];
        request->if_exists = BH_IF_EXISTS_REPLACE;
        request->flags = BH_REQUEST_IF_CHANGED; /* an earlier run may have downloaded the file */
    }
    check_started(bh_session_enqueue(transfers->session, requests, TASKS, BH_START, NULL, &error), &enqueue);
}

void transfers_open(struct transfers *transfers, const char *url, const char *folder, const char *upload) {
    bh_application_options options = BH_INIT(bh_application_options);
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    *transfers = (struct transfers){0};
    options.identifier = "org.example.loop";
    configuration.identifier = "files";
    configuration.asks_for_credentials = BH_YES;
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &transfers->application, &error), "open the application");
    check(bh_session_create(transfers->application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT,
                            &transfers->session, NULL, &error),
          "open the session");
    check(bh_session_event_fd(transfers->session, &transfers->descriptors[SESSION], &error), "get a descriptor");
    check(bh_session_progress_fd(transfers->session, &transfers->descriptors[PROGRESS], &error), "get a descriptor");
    check(bh_application_event_fd(transfers->application, &transfers->descriptors[APPLICATION], &error),
          "get a descriptor");
    check_started(bh_session_watch_progress(transfers->session, 200, BH_START, &error), &watch);
    start_enqueue(transfers, url, folder, upload);
}

/* Takes the credential from the environment, because arguments of a program are visible to all users. */
static void start_response(struct transfers *transfers, const bh_challenge *challenge) {
    bh_challenge_response response = BH_INIT(bh_challenge_response);
    response.user = getenv("LOOP_USER");
    response.password = getenv("LOOP_PASSWORD");
    bool is_known = response.user && response.password && challenge->failures == 0;
    response.kind = is_known ? BH_RESPOND_CREDENTIAL : BH_RESPOND_REFUSE;
    printf("%s demands a credential: %s\n", challenge->origin, BH_NAME(bh_challenge_response_kind, response.kind));
    check_started(bh_session_respond(transfers->session, challenge->id, &response, BH_START, &error), &respond);
}

/* Returns whether the event is the last one. */
static bool handle(struct transfers *transfers, const bh_event *event) {
    /* The engine handles commands in their order, so it gets the response before the acknowledgement of this event. */
    if (event->kind == BH_EVENT_CHALLENGE) start_response(transfers, event->challenge);
    if (event->kind == BH_EVENT_TASK_ENDED) {
        printf("%s %s %s%s%s\n", BH_NAME(bh_task_kind, event->task_kind), event->url,
               BH_NAME(bh_task_state, event->task_state), event->error_message ? ": " : "",
               event->error_message ? event->error_message : "");
        if (event->task_state != BH_TASK_SUCCEEDED) transfers->failures++;
    }
    return event->kind == BH_EVENT_SESSION_FINISHED;
}

static void start_poll(struct transfers *transfers) {
    if (transfers->is_polling) return;
    transfers->is_polling = true;
    check_started(bh_session_poll(transfers->session, transfers->handled, 100, BH_START, NULL, &error), &poll_events);
}

static void poll_ended(struct transfers *transfers, bh_ticket *ticket) {
    bh_batch *events = NULL;
    bool is_last = false;
    transfers->is_polling = false;
    check(bh_ticket_batch(ticket, &events, &error), poll_events.what);
    size_t count = bh_batch_count(events);
    for (size_t i = 0; i < count; i++) {
        const bh_event *event = bh_batch_event_at(events, i);
        is_last |= handle(transfers, event);
        transfers->handled = event->id;
    }
    bh_batch_release(events);
    /* The program acknowledges after its work. If it is killed before, the next run gets the events again. */
    if (count)
        check_started(bh_session_acknowledge_through(transfers->session, transfers->handled, BH_START, NULL, &error),
                      is_last ? &acknowledge_last : &acknowledge);
}

static void last_acknowledged(struct transfers *transfers, bh_ticket *ticket) {
    (void)ticket;
    check_started(bh_session_complete(transfers->session, BH_START, &error), &complete);
}

static void completed(struct transfers *transfers, bh_ticket *ticket) {
    (void)ticket;
    transfers->is_over = true;
}

static void show_progress(struct transfers *transfers) {
    bh_batch *readings = NULL;
    check(bh_session_poll_progress(transfers->session, 0, &readings, &error), "read the progress");
    for (size_t i = 0; i < bh_batch_count(readings); i++) {
        const bh_progress *progress = bh_batch_progress_at(readings, i);
        printf("task %" PRIu64 " is %s: %" PRIu64 " bytes, %" PRIu64 " bytes/s\n", progress->task_id,
               BH_NAME(bh_task_state, progress->state), progress->offset + progress->body_sent,
               progress->bytes_per_second);
    }
    bh_batch_release(readings);
}

/* Reads the outcome of each operation that has ended. */
static void end_operations(struct transfers *transfers) {
    bh_ticket *ticket = NULL;
    bool has_ticket = false;
    for (;;) {
        check(bh_application_next_ticket(transfers->application, &ticket, &error), "get a ticket");
        if (!ticket) break;
        has_ticket = true;
        const struct operation *operation = bh_ticket_data(ticket);
        check(bh_ticket_wait(ticket, 0, &error), operation->what);
        if (operation->ended) operation->ended(transfers, ticket);
        bh_ticket_release(ticket);
    }
    if (has_ticket || transfers->is_polling) return;
    /* Another session of the application needs attention. This program has only one session. */
    bh_batch *sessions = NULL;
    check(bh_application_poll(transfers->application, 0, &sessions, &error), "poll the application");
    bh_batch_release(sessions);
}

void transfers_readable(struct transfers *transfers, int descriptor) {
    if (descriptor == SESSION) start_poll(transfers);
    if (descriptor == PROGRESS) show_progress(transfers);
    if (descriptor == APPLICATION) end_operations(transfers);
}

int transfers_close(struct transfers *transfers) {
    bh_session_close(transfers->session);
    bh_application_close(transfers->application);
    return transfers->failures > 0;
}
