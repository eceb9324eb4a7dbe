/*
 * An image downloader. The user starts a download and closes the program, and the download continues.
 *
 *   images get URL...   enqueues the pictures and exits
 *   images              shows complete pictures and running downloads, until all downloads are complete
 *   images launched     the command with which Backhaul launches the program when the pictures are complete
 *
 * The pictures and the file images.log are in ~/Pictures/Backhaul. See examples/README.md.
 */
#define _POSIX_C_SOURCE 200809L
#include <backhaul.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_NAME "images.log"
#define NAME_SIZE 100

static char folder[3072];
static int is_launched;
static bh_role role;
static bh_application *application;
static bh_error error = BH_INIT(bh_error);

/* ---- Output: the terminal and a log. A launched program has no terminal. ---- */

static void report(const char *format, ...) {
    char line[4096], path[sizeof folder + sizeof LOG_NAME + 1];
    va_list values;
    va_start(values, format);
    int size = snprintf(line, sizeof line, "%s", is_launched ? "launched: " : "");
    vsnprintf(line + size, sizeof line - (size_t)size - 1, format, values);
    va_end(values);
    strcat(line, "\n");
    if (!is_launched) fputs(line, stdout);
    snprintf(path, sizeof path, "%s/%s", folder, LOG_NAME);
    /* The file is opened for appending, and each line is one write, so the lines of two processes do not mix. */
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, strlen(line)) < 0) perror(path);
    if (file >= 0) close(file);
}

static _Noreturn void give_up(const char *what, const char *why) {
    fprintf(stderr, "images: cannot %s: %s\n", what, why);
    if (is_launched) report("cannot %s: %s", what, why);
    exit(1); /* if Backhaul launched this program, Backhaul launches it again later */
}

static void check(bh_status status, const char *what) {
    if (status != BH_OK) give_up(what, error.message);
}

/* ---- The application and its one session ---- */

static void find_folder(void) {
    const char *home = getenv("HOME");
    if (!home || home[0] != '/') give_up("find the pictures", "HOME is not an absolute path");
    const char *const parts[] = {"", "/Pictures", "/Backhaul"};
    if (snprintf(folder, sizeof folder - 32, "%s", home) >= (int)sizeof folder - 32)
        give_up("find the pictures", "the path in HOME is too long");
    for (size_t i = 1; i < sizeof parts / sizeof parts[0]; i++) {
        strcat(folder, parts[i]);
        if (mkdir(folder, 0755) != 0 && errno != EEXIST) give_up(folder, strerror(errno));
    }
}

/* Each run registers its own path as the launch command. If the program was moved, its next run corrects the path. */
static void open_application(void) {
    char program[4096];
    const char *const arguments[] = {"launched"};
    bh_application_options options = BH_INIT(bh_application_options);
    bh_launch_command launch = BH_INIT(bh_launch_command);
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size < 0) give_up("find this program's file", strerror(errno));
    program[size] = '\0';
    launch.program = program;
    launch.arguments = arguments;
    launch.argument_count = 1;
    options.identifier = "org.example.images.c";
    options.launch = &launch;
    check(bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error), "open the application");
}

/* Creates the session in the first run, and attaches to it in later runs. */
static bh_session *session(void) {
    static bh_session *opened;
    if (!opened) {
        bh_session_configuration configuration = BH_INIT(bh_session_configuration);
        configuration.identifier = "pictures";
        bh_status status = bh_session_create(application, &configuration, role, BH_WAIT_DEFAULT, &opened, NULL, &error);
        if (status == BH_IN_USE && is_launched) exit(0); /* the user's process reads the events */
        check(status, "open the session");
    }
    return opened;
}

/* ---- Enqueue ---- */

/* Makes a file name from the last segment of the URL's path. The name has no directories and no control characters, and
 * does not begin with a dot. */
static void name_of(const char *url, char name[NAME_SIZE]) {
    const char *path = strstr(url, "://");
    path = path ? path + 3 : url;
    size_t length = strcspn(path, "?#"), start = length;
    while (start > 0 && path[start - 1] != '/') start--;
    if (start == 0) start = length;                                       /* the URL has no path */
    if (length - start > NAME_SIZE - 1) start = length - (NAME_SIZE - 1); /* keeps the end with the file type */
    size_t size = length - start;
    memcpy(name, path + start, size);
    name[size] = '\0';
    for (char *c = name; *c; c++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *c)) *c = '_';
    if (name[0] == '.') name[0] = '_';
    if (size == 0 || strcmp(name, LOG_NAME) == 0) strcpy(name, "picture");
}

/* Enqueues a download. When this function returns, the task is stored: it survives the end of this program. */
static int enqueue_download(const char *url) {
    char name[NAME_SIZE], destination[sizeof folder + NAME_SIZE + 1];
    bh_request request = BH_INIT(bh_request);
    bh_batch *results = NULL;
    name_of(url, name);
    snprintf(destination, sizeof destination, "%s/%s", folder, name);
    request.url = url;
    request.destination = destination;
    request.idempotency_key = name; /* a second enqueue with this key finds the same task */
    bh_status status = bh_session_enqueue(session(), &request, 1, BH_WAIT_DEFAULT, &results, &error);
    if (status == BH_DESTINATION_EXISTS) {
        report("%s exists already", name);
        return 0;
    }
    if (status != BH_OK) {
        fprintf(stderr, "images: %s: %s\n", name, error.message);
        return 1;
    }
    int is_new = bh_batch_enqueued_at(results, 0)->disposition == BH_ENQUEUE_NEW;
    bh_batch_release(results);
    report(is_new ? "enqueued %s" : "%s was enqueued before", name);
    return 0;
}

/* ---- Events: how downloads ended ---- */

static void use(const bh_event *event) {
    if (event->kind == BH_EVENT_SESSION_FINISHED)
        report("round %" PRIu64 " finished", event->round);
    else if (event->kind == BH_EVENT_TASK_ENDED && event->task_state == BH_TASK_SUCCEEDED)
        report("%s is there, %" PRIu64 " bytes", event->idempotency_key, event->size);
    else if (event->kind == BH_EVENT_TASK_ENDED)
        report("%s does not come: %s", event->idempotency_key, event->error_message);
}

/* Waits up to timeout_ms for the first event, and handles all events. Then it acknowledges the events. If this program
 * is killed before the acknowledgement, the events are delivered again. */
static void handle_events(int32_t timeout_ms) {
    for (size_t count = 1; count > 0; timeout_ms = 0) {
        bh_batch *events = NULL;
        check(bh_session_poll(session(), 0, 100, timeout_ms, &events, &error), "read the events");
        count = bh_batch_count(events);
        for (size_t i = 0; i < count; i++) use(bh_batch_event_at(events, i));
        if (count > 0)
            check(bh_session_acknowledge_through(session(), bh_batch_event_at(events, count - 1)->id, BH_WAIT_DEFAULT,
                                                 NULL, &error),
                  "acknowledge");
        bh_batch_release(events);
    }
}

/* Handles the events, completes the session (states that its events are processed), and exits, because there is no
 * user. A program with several sessions does this for each session of the launch. */
static void be_launched(void) {
    bh_batch *launch = NULL;
    check(bh_application_current_launch(application, BH_WAIT_DEFAULT, &launch, &error), "ask for the launch");
    if (bh_batch_count(launch) > 0) { /* 0: the user has opened the program, so the launch is over */
        handle_events(0);
        check(bh_session_complete(session(), BH_WAIT_DEFAULT, &error), "complete");
        report("no event is outstanding");
    }
    bh_batch_release(launch);
}

/* ---- When the user opens the program ---- */

static void show_pictures(void) {
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (name[0] != '.' && strcmp(name, LOG_NAME) != 0) printf("there: %s\n", name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

/* Prints the downloads that have not ended, and returns their number. */
static size_t show_tasks(void) {
    bh_batch *tasks = NULL;
    bh_task_selection selection = BH_INIT(bh_task_selection);
    selection.states = BH_STATE(BH_TASK_WAITING) | BH_STATE(BH_TASK_RUNNING) | BH_STATE(BH_TASK_SUSPENDED);
    check(bh_session_tasks(session(), &selection, 0, 1000, BH_WAIT_DEFAULT, &tasks, &error), "list what is on its way");
    size_t count = bh_batch_count(tasks);
    for (size_t i = 0; i < count; i++) {
        const bh_task_info *task = bh_batch_task_at(tasks, i);
        printf("on its way: %s", task->idempotency_key);
        if (task->size != BH_SIZE_UNKNOWN && task->size > 0)
            printf(" %.0f %%", 100.0 * (double)task->offset / (double)task->size);
        printf("%s%s\n", task->reason_text ? ", " : "", task->reason_text ? task->reason_text : "");
    }
    bh_batch_release(tasks);
    return count;
}

static void show(void) {
    handle_events(0); /* handles the events since the last run */
    show_pictures();
    while (show_tasks() > 0) handle_events(500);
    handle_events(0); /* handles the downloads that ended after the last call */
    check(bh_session_complete(session(), BH_WAIT_DEFAULT, &error), "complete");
}

int main(int argc, char **argv) {
    int failed = 0;
    is_launched = argc == 2 && strcmp(argv[1], "launched") == 0;
    int gets = argc > 2 && strcmp(argv[1], "get") == 0;
    if (argc > 1 && !gets && !is_launched) {
        fprintf(stderr, "usage: images [get URL...]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* `get` needs no events. If the user opens the program while a launched process runs, the program waits until that
     * process has ended. */
    role = gets ? BH_ROLE_PRODUCE : is_launched ? BH_ROLE_CONSUME : BH_ROLE_CONSUME_WHEN_FREE;
    find_folder();
    open_application();
    if (gets)
        for (int i = 2; i < argc; i++) failed |= enqueue_download(argv[i]);
    else if (is_launched)
        be_launched();
    else
        show();
    bh_application_close(application);
    return failed;
}
