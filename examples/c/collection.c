/*
 * A program that uses Backhaul and can be killed at any time. It enqueues a list of files for download. When all files
 * have arrived, Backhaul's daemon starts the program again.
 *
 *   collection STORE LOG LIST   enqueues the files of LIST and reports their ends. Each line is "URL<tab>destination"
 *   collection STORE LOG        only reports the ends; the daemon uses this command when the program does not run
 *
 * STORE is the directory with all data of the transfers. If the program is killed, the transfers continue. The program
 * writes its reports to LOG, because a program that the daemon starts has no terminal.
 */
#define _DEFAULT_SOURCE
#include <backhaul.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bh_error error = BH_INIT(bh_error);
static int log_file;

static void check(bh_status status, const char *what) {
    if (status == BH_OK) return;
    dprintf(log_file, "cannot %s: %s (%s)\n", what, error.message, bh_status_name(status));
    exit(1); /* if the daemon started this program, the daemon starts it again later */
}

/* The daemon starts the registered program without a shell and without PATH, so the program's path must be absolute. */
static bh_application *open_application(char *store, char *log) {
    static char program[PATH_MAX], absolute_log[PATH_MAX];
    const char *arguments[] = {store, absolute_log};
    bh_application *application = NULL;
    bh_application_options options = BH_INIT(bh_application_options);
    bh_launch_command command = BH_INIT(bh_launch_command);
    if (!realpath("/proc/self/exe", program) || !realpath(log, absolute_log)) {
        perror(log);
        exit(1);
    }
    command.program = program;
    command.arguments = arguments;
    command.argument_count = 2;
    options.identifier = "org.example.collection";
    options.store = store;
    options.launch = &command;
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error), "open the store");
    return application;
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
        char *url = strtok(line, "\t\n"), *destination = strtok(NULL, "\t\n");
        if (!destination) continue;
        requests = realloc(requests, (count + 1) * sizeof *requests);
        if (!requests) abort();
        requests[count] = (bh_request)BH_INIT(bh_request);
        requests[count].url = strdup(url);
        requests[count].destination = strdup(destination);
        requests[count].idempotency_key = requests[count].url;
        requests[count].if_exists = BH_IF_EXISTS_REPLACE;
        requests[count].flags = BH_REQUEST_IF_CHANGED; /* an earlier run may have downloaded the file */
        count++;
    }
    check(bh_session_enqueue(session, requests, count, BH_WAIT_DEFAULT, NULL, &error), "hand the list over");
    dprintf(log_file, "enqueued %zu files\n", count);
    while (count--) {
        free((char *)requests[count].url);
        free((char *)requests[count].destination);
    }
    free(requests);
    free(line);
    fclose(list);
}

static int show(const bh_event *event) {
    if (event->kind == BH_EVENT_SESSION_FINISHED)
        dprintf(log_file, "round %" PRIu64 " finished\n", event->round);
    else if (event->task_state == BH_TASK_SUCCEEDED)
        dprintf(log_file, "done %" PRIu64 " %" PRIu64 " %s\n", event->task_id, event->size, event->path);
    else
        dprintf(log_file, "lost %" PRIu64 " %s: %s\n", event->task_id, event->url, event->error_message);
    return event->kind == BH_EVENT_SESSION_FINISHED;
}

/* If the daemon started this process, reports the launch. */
static void report_launch(bh_application *application) {
    bh_batch *batch = NULL;
    check(bh_application_current_launch(application, BH_WAIT_DEFAULT, &batch, &error), "ask for the launch");
    const bh_launch *launch = bh_batch_launch_at(batch, 0);
    for (size_t i = 0; launch && i < launch->session_count; i++)
        dprintf(log_file, "launched %" PRIu64 " as process %d for session %s, %" PRIu64 " events wait\n", launch->id,
                (int)getpid(), launch->sessions[i]->identifier, launch->sessions[i]->events);
    bh_batch_release(batch);
}

int main(int argc, char **argv) {
    bh_session *session = NULL;
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    int finished = 0;
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: collection STORE LOG [LIST]\n");
        return 2;
    }
    log_file = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_file < 0) {
        perror(argv[2]);
        return 1;
    }
    bh_application *application = open_application(argv[1], argv[2]);
    report_launch(application);
    configuration.identifier = "collection";
    check(bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL, &error),
          "attach to the session");
    if (argc == 4) enqueue_list(session, argv[3]);
    while (!finished) {
        bh_batch *events = NULL;
        check(bh_session_poll(session, 0, 100, 1000, &events, &error), "poll");
        size_t count = bh_batch_count(events);
        for (size_t i = 0; i < count; i++) finished |= show(bh_batch_event_at(events, i));
        if (count)
            check(bh_session_acknowledge_through(session, bh_batch_event_at(events, count - 1)->id, BH_WAIT_DEFAULT,
                                                 NULL, &error),
                  "acknowledge");
        else if (argc == 3)
            finished = 1; /* all events were read */
        bh_batch_release(events);
    }
    check(bh_session_complete(session, BH_WAIT_DEFAULT, &error), "complete the session");
    dprintf(log_file, "completed\n");
    bh_session_close(session);
    bh_application_close(application);
    return 0;
}
