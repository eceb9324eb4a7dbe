#define _GNU_SOURCE // vasprintf
#include "include/calls.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generated.h"

enum { THREADS = 3, PLACES = 6, TEXT_SIZE = 400 };

// The handles that calls have returned, and the handles that were freed.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *kept[KINDS][PLACES], *freed[KINDS];
static char *violation;
// The tasks that the calls of this process have enqueued.
static _Atomic size_t enqueued;

static void violate(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) abort();
    va_end(arguments);
    pthread_mutex_lock(&mutex);
    if (violation)
        free(text);
    else
        violation = text;
    pthread_mutex_unlock(&mutex);
}

uint64_t choose(struct choices *choices, uint64_t count) {
    uint8_t byte = choices->used < choices->size ? choices->bytes[choices->used++] : 0;
    return count ? byte % count : 0;
}

uint64_t choose_number(struct choices *choices) {
    switch (choose(choices, 8)) {
    case 0:
        return choose(choices, 256) << 56 | choose(choices, 256);
    case 1:
        return UINT64_MAX - choose(choices, 256);
    case 2:
        return UINT64_C(1) << choose(choices, 64);
    default:
        return choose(choices, 8);
    }
}

int32_t choose_timeout(struct choices *choices) {
    static const int32_t timeouts[] = {0, 20, 20, 20, BH_START, -1, 1, BH_START};
    return timeouts[choose(choices, 8)];
}

void *take_memory(struct choices *choices, size_t size) {
    // The first word of the memory is the number of the bytes in use.
    size_t used;
    memcpy(&used, choices->memory, sizeof used);
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof choices->memory - used) return NULL;
    void *memory = choices->memory + used;
    used += size;
    memcpy(choices->memory, &used, sizeof used);
    return memory;
}

const char *choose_text(struct choices *choices) {
    static const char *const texts[] = {
        "",
        "a",
        "gallery",
        "org.example.fuzz",
        "http://127.0.0.1:9/a",
        "http://127.0.0.1:9/b",
        "/a",
        "/b",
        "22:00-06:30",
        "200-299,404",
        "image/*, application/zip",
        "PUT",
        "X-A",
        "Authorization",
        "sha-256:0000000000000000000000000000000000000000000000000000000000000000",
        "\xff\xfe",
        "a\r\nb: c",
        "*",
        "http://user:secret@127.0.0.1:9/",
        "\xf0\x9f\x98\x80",
        "127.0.0.0/8, .example.org",
        NULL,
    };
    const char *text = texts[choose(choices, sizeof texts / sizeof *texts)];
    if (!text) return NULL;
    char *copy = take_memory(choices, TEXT_SIZE);
    if (!copy) return NULL;
    snprintf(copy, TEXT_SIZE, "%s%s", text[0] == '/' ? choices->files : "", text);
    return copy;
}

static void free_handle(enum kind kind, void *handle) {
    switch (kind) {
    case APPLICATION:
        bh_application_close(handle);
        break;
    case SESSION:
        bh_session_close(handle);
        break;
    case TICKET:
        bh_ticket_release(handle);
        break;
    default:
        bh_batch_release(handle);
    }
}

void *choose_handle(struct choices *choices, enum kind kind) {
    uint64_t place = choose(choices, 32);
    if (place == 31) return NULL;
    if (place == 30) return UNTOUCHED;
    pthread_mutex_lock(&mutex);
    // A handle of another kind, a freed handle, or one of the kept handles.
    void *handle = place == 29 ? kept[choose(choices, KINDS)][0] : place == 28 ? freed[kind] : kept[kind][place % 3];
    if (!handle) handle = kept[kind][0];
    pthread_mutex_unlock(&mutex);
    return handle;
}

void keep_handle(struct choices *choices, enum kind kind, void *handle) {
    uint64_t place = choose(choices, PLACES);
    pthread_mutex_lock(&mutex);
    void *former = kept[kind][place];
    kept[kind][place] = handle;
    freed[kind] = former;
    pthread_mutex_unlock(&mutex);
    free_handle(kind, former);
}

void begin_error(struct choices *choices, bh_error *error) {
    memset(error, 0, sizeof *error);
    error->struct_size = choose(choices, 8) != 1 ? sizeof *error : choose(choices, 256);
}

void check_status(struct choices *choices, const char *function, bh_status status, bh_error *error) {
    if (status == BH_INTERNAL || !strcmp(bh_status_name(status), "BH_UNKNOWN")) {
        violate("%s returns the status %d: %s", function, status, error ? error->message : "");
    }
    if (!error || error->struct_size != sizeof *error) return;
    if (!memchr(error->message, 0, sizeof error->message)) violate("%s: a message without an end", function);
    if (status != BH_OK && (error->status != status || !error->message[0])) {
        violate("%s: the status is %d, but the error has %d: %s", function, status, error->status, error->message);
    }
    if (error->ticket) keep_handle(choices, TICKET, error->ticket);
}

void check_untouched(const char *function, bh_status status, const void *output) {
    if (status != BH_OK && output != UNTOUCHED) violate("%s changes its output with the status %d", function, status);
}

void count_enqueued(bh_status status, size_t count) {
    if (status == BH_OK) enqueued += count;
}

// scripts/fuzz reads this line.
static void print_enqueued(void) { fprintf(stderr, "tasks enqueued: %zu\n", enqueued); }

static void make_call(struct choices *choices) {
    size_t used = 16;
    memcpy(choices->memory, &used, sizeof used);
    // Most calls do little without a task.
    if (choose(choices, 8) == 1)
        make_bh_session_enqueue(choices);
    else
        CALLS[choose(choices, sizeof CALLS / sizeof *CALLS)].make(choices);
}

// In a child of a process that has opened an application, each call returns BH_FORKED.
static void make_call_in_child(struct choices *choices) {
    pthread_mutex_lock(&mutex);
    pid_t child = fork();
    pthread_mutex_unlock(&mutex);
    if (child == 0) {
        alarm(60);
        size_t used = 16;
        memcpy(choices->memory, &used, sizeof used);
        const struct call *call = &CALLS[choose(choices, sizeof CALLS / sizeof *CALLS)];
        _exit(call->make(choices) == BH_FORKED ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return;
    if (status) violate("a call in a forked child ends it with %#x", (unsigned)status);
}

static void *make_calls(void *argument) {
    struct choices *choices = argument;
    while (choices->used < choices->size) {
        if (choose(choices, 128) == 127)
            make_call_in_child(choices);
        else
            make_call(choices);
    }
    return NULL;
}

bh_application *fuzz_open(const char *store) {
    bh_application_options options = BH_INIT(bh_application_options);
    bh_error error = BH_INIT(bh_error);
    bh_application *application = NULL;
    options.identifier = "org.example.fuzz";
    options.store = store;
    options.hosting = BH_HOSTING_EMBEDDED;
    if (bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error)) {
        violate("the application cannot be opened: %s", error.message);
    }
    return application;
}

void fuzz_close(bh_application *application) { bh_application_close(application); }

static void open_all(const char *store) {
    static unsigned opened;
    char identifier[32];
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_error error = BH_INIT(bh_error);
    bh_application *application = fuzz_open(store);
    bh_session *session = NULL;
    // The calls of an earlier input may have invalidated its session.
    snprintf(identifier, sizeof identifier, "gallery-%u", opened++);
    configuration.identifier = identifier;
    if (application &&
        bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL, &error)) {
        violate("the session cannot be created: %s", error.message);
    }
    kept[APPLICATION][0] = application;
    kept[SESSION][0] = session;
}

char *fuzz_calls(const uint8_t *bytes, size_t size, const char *store, const char *files) {
    static struct choices all[THREADS];
    static bool prints_enqueued;
    pthread_t threads[THREADS];
    if (!prints_enqueued) prints_enqueued = !atexit(print_enqueued);
    violation = NULL;
    memset(kept, 0, sizeof kept);
    memset(freed, 0, sizeof freed);
    open_all(store);
    for (size_t i = 0; i < THREADS; i++) {
        size_t begin = size * i / THREADS, end = size * (i + 1) / THREADS;
        all[i] = (struct choices){.bytes = bytes + begin, .size = end - begin, .store = store, .files = files};
        if (pthread_create(&threads[i], NULL, make_calls, &all[i])) abort();
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (enum kind kind = KINDS; kind-- > 0;) {
        for (size_t i = 0; i < PLACES; i++) free_handle(kind, kept[kind][i]);
    }
    return violation;
}
