/* A small framework for the C tests. Each test is a function that runs in its own process with its own store. */
#ifndef CHECK_H
#define CHECK_H

#include <backhaul.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path at which this test may create a store. When the test starts, nothing exists at this path. */
static const char *store;

/* If a call must not set an output parameter, the test sets the parameter to UNTOUCHED before the call. */
static char untouched;
#define UNTOUCHED ((void *)&untouched)

#define FAIL(...)                                                                                                      \
    do {                                                                                                               \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                                                \
        fprintf(stderr, __VA_ARGS__);                                                                                  \
        fputc('\n', stderr);                                                                                           \
        exit(1);                                                                                                       \
    } while (0)

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) FAIL("not true: %s", #condition);                                                            \
    } while (0)

#define CHECK_STATUS(expected, call)                                                                                   \
    do {                                                                                                               \
        bh_status wanted_ = (expected), got_ = (call);                                                                 \
        if (got_ != wanted_) FAIL("%s: %s instead of %s", #call, bh_status_name(got_), bh_status_name(wanted_));       \
    } while (0)

struct test {
    const char *name;
    void (*run)(void);
    bool has_application;
    int role;
};

/* Tests without an open application, with an open application, and with a session "gallery" of this application. */
#define TEST(name) {#name, name, false, 0}
#define APPLICATION_TEST(name) {#name, name, true, 0}
#define CONSUMER_TEST(name) {#name, name, true, BH_ROLE_CONSUME}
#define PRODUCER_TEST(name) {#name, name, true, BH_ROLE_PRODUCE}

static bh_application *application;
static bh_session *session;

#define MAIN(...)                                                                                                      \
    int main(int argc, char **argv) {                                                                                  \
        static const struct test tests[] = {__VA_ARGS__};                                                              \
        if (argc != 3) return 2;                                                                                       \
        store = argv[2];                                                                                               \
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)                                                    \
            if (strcmp(tests[i].name, argv[1]) == 0) {                                                                 \
                if (tests[i].has_application) application = open_application();                                        \
                if (tests[i].role) session = create_session(application, "gallery", (bh_role)tests[i].role);           \
                tests[i].run();                                                                                        \
                if (tests[i].has_application) bh_application_close(application);                                       \
                return 0;                                                                                              \
            }                                                                                                          \
        fprintf(stderr, "no test %s\n", argv[1]);                                                                      \
        return 2;                                                                                                      \
    }

static inline bh_application *open_application(void) {
    bh_application_options options = BH_INIT(bh_application_options);
    bh_application *application = NULL;
    bh_error error = BH_INIT(bh_error);
    options.identifier = "org.example.tests";
    options.store = store;
    options.hosting = BH_HOSTING_EMBEDDED;
    if (bh_application_open(&options, 20000, &application, &error) != BH_OK)
        FAIL("cannot open: %s: %s", bh_status_name(error.status), error.message);
    CHECK(application != NULL);
    return application;
}

static inline bh_session *create_session(bh_application *application, const char *identifier, bh_role role) {
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_session *session = NULL;
    bh_error error = BH_INIT(bh_error);
    configuration.identifier = identifier;
    if (bh_session_create(application, &configuration, role, 20000, &session, NULL, &error) != BH_OK)
        FAIL("cannot create %s: %s: %s", identifier, bh_status_name(error.status), error.message);
    CHECK(session != NULL);
    return session;
}

/* A request that is never sent: its task is suspended, and nothing listens on its port. */
static inline bh_request idle_request(void) {
    bh_request request = BH_INIT(bh_request);
    request.url = "http://127.0.0.1:9/file";
    request.flags = BH_REQUEST_STARTS_SUSPENDED;
    return request;
}

static inline bh_enqueued enqueue_one(bh_session *session, const bh_request *request) {
    bh_batch *results = NULL;
    bh_error error = BH_INIT(bh_error);
    if (bh_session_enqueue(session, request, 1, 20000, &results, &error) != BH_OK)
        FAIL("cannot enqueue: %s: %s", bh_status_name(error.status), error.message);
    CHECK(bh_batch_count(results) == 1);
    bh_enqueued result = *bh_batch_enqueued_at(results, 0);
    bh_batch_release(results);
    CHECK(result.struct_size == sizeof result && result.request == 0 && result.task_id != 0);
    return result;
}

/* Returns the ticket of a call with BH_START. Such a call only starts an operation. With the ticket, the test reads the
 * result of the operation later. */
static inline bh_ticket *ticket_of(bh_status status, const bh_error *error) {
    if (status != BH_STARTED) FAIL("%s instead of BH_STARTED: %s", bh_status_name(status), error->message);
    CHECK(error->status == BH_STARTED && error->ticket != NULL && error->ticket != UNTOUCHED);
    return error->ticket;
}

#endif
