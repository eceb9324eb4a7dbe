/* Calls with an argument that is missing, malformed or out of range. The error of each call names the argument. An
 * enqueue stores requests as tasks of a session. */
#include "check.h"

#include <stdint.h>
#include <sys/stat.h>

static bh_error error = BH_INIT(bh_error);

#define CHECK_REFUSED(word, call) CHECK_REFUSED_AT(word, BH_NO_INDEX, call)
#define CHECK_REFUSED_AT(word, position, call)                                                                         \
    do {                                                                                                               \
        CHECK_STATUS(BH_INVALID_ARGUMENT, call);                                                                       \
        CHECK(error.status == BH_INVALID_ARGUMENT);                                                                    \
        if (!strstr(error.message, word)) FAIL("\"%s\" is not in: %s", word, error.message);                           \
        if (error.index != (position)) FAIL("index %llu: %s", (unsigned long long)error.index, error.message);         \
    } while (0)

/* Returns a text that is never freed. A static variable refers to the text, so a leak checker does not report it. */
static char *repeated(char byte, size_t count) {
    static char *kept[100];
    static int number;
    char *text = kept[number++] = malloc(count + 1);
    memset(text, byte, count);
    text[count] = 0;
    return text;
}

static void invalid_options_of_an_application_are_refused(void) {
    bh_application *application = (void *)&error;
    bh_application_options good = BH_INIT(bh_application_options), options;
    good.identifier = "org.example.tests";
    good.store = store;
    CHECK_REFUSED("options", bh_application_open(NULL, 0, &application, &error));
    CHECK_REFUSED("application", bh_application_open(&good, 0, NULL, &error));
#define CHANGED(field, value) (options = good, options.field = (value), &options)
    CHECK_REFUSED("struct_size 0", bh_application_open(CHANGED(struct_size, 0), 0, &application, &error));
    CHECK_REFUSED("struct_size 23", bh_application_open(CHANGED(struct_size, 23), 0, &application, &error));
    CHECK_REFUSED("struct_size", bh_application_open(CHANGED(struct_size, SIZE_MAX), 0, &application, &error));
    CHECK_REFUSED("identifier is NULL", bh_application_open(CHANGED(identifier, NULL), 0, &application, &error));
    CHECK_REFUSED("identifier", bh_application_open(CHANGED(identifier, ""), 0, &application, &error));
    CHECK_REFUSED("identifier", bh_application_open(CHANGED(identifier, ".hidden"), 0, &application, &error));
    CHECK_REFUSED("identifier", bh_application_open(CHANGED(identifier, "a/b"), 0, &application, &error));
    CHECK_REFUSED("identifier", bh_application_open(CHANGED(identifier, "caf\xC3\xA9"), 0, &application, &error));
    CHECK_REFUSED("UTF-8", bh_application_open(CHANGED(identifier, "caf\xE9"), 0, &application, &error));
    CHECK_REFUSED("255", bh_application_open(CHANGED(identifier, repeated('a', 256)), 0, &application, &error));
    CHECK_REFUSED("store", bh_application_open(CHANGED(store, ""), 0, &application, &error));
    CHECK_REFUSED("store", bh_application_open(CHANGED(store, "relative/store"), 0, &application, &error));
    CHECK_REFUSED("UTF-8", bh_application_open(CHANGED(store, "/tmp/\xFF"), 0, &application, &error));
    char *path = repeated('a', 5000);
    path[0] = '/';
    CHECK_REFUSED("4095", bh_application_open(CHANGED(store, path), 0, &application, &error));
    CHECK_REFUSED("hosting is 3", bh_application_open(CHANGED(hosting, 3), 0, &application, &error));
    CHECK_REFUSED("hosting is -1", bh_application_open(CHANGED(hosting, -1), 0, &application, &error));
    CHECK_REFUSED("flags", bh_application_open(CHANGED(flags, 2), 0, &application, &error));
    CHECK_REFUSED("daemon", bh_application_open(CHANGED(daemon, "backhauld"), 0, &application, &error));
    options = good;
    options.hosting = BH_HOSTING_EMBEDDED;
    options.daemon = "/usr/libexec/backhaul/backhauld";
    CHECK_REFUSED("options.daemon", bh_application_open(&options, 0, &application, &error));
    CHECK_REFUSED("timeout_ms is -2", bh_application_open(&good, -2, &application, &error));
    CHECK_REFUSED("no endless wait", bh_application_open(&good, -1, &application, &error));
    CHECK_REFUSED("BH_START", bh_application_open(&good, BH_START, &application, &error));
    CHECK_REFUSED("timeout_ms", bh_application_open(&good, BH_WAIT_MAXIMUM + 1, &application, &error));
    CHECK(application == (void *)&error);
    struct stat status;
    CHECK(stat(store, &status) != 0);
#undef CHANGED
}

static void invalid_configurations_and_roles_of_a_session_are_refused(void) {
    bh_application *application = open_application();
    bh_session *session = (void *)&error;
    bh_session_configuration good = BH_INIT(bh_session_configuration), changed;
    good.identifier = "gallery";
#define CREATE(configuration, role) bh_session_create(application, configuration, role, 20000, &session, NULL, &error)
#define CHANGED(field, value) (changed = good, changed.field = (value), &changed)
    CHECK_REFUSED("configuration", CREATE(NULL, BH_ROLE_CONSUME));
    CHECK_REFUSED("session", bh_session_create(application, &good, BH_ROLE_CONSUME, 20000, NULL, NULL, &error));
    CHECK_REFUSED("role is 0", CREATE(&good, 0));
    CHECK_REFUSED("role is 5", CREATE(&good, 5));
    CHECK_REFUSED("role", CREATE(&good, INT32_MIN));
    CHECK_REFUSED("struct_size", CREATE(CHANGED(struct_size, 8), BH_ROLE_CONSUME));
    CHECK_REFUSED("identifier", CREATE(CHANGED(identifier, NULL), BH_ROLE_CONSUME));
    CHECK_REFUSED("identifier", CREATE(CHANGED(identifier, ""), BH_ROLE_CONSUME));
    CHECK_REFUSED("identifier", CREATE(CHANGED(identifier, "two\nlines"), BH_ROLE_CONSUME));
    CHECK_REFUSED("UTF-8", CREATE(CHANGED(identifier, "\xC3("), BH_ROLE_CONSUME));
    CHECK_REFUSED("identifier", CREATE(CHANGED(identifier, repeated('x', 256)), BH_ROLE_CONSUME));
    CHECK_REFUSED("connections_per_origin", CREATE(CHANGED(connections_per_origin, 257), BH_ROLE_CONSUME));
    CHECK_REFUSED("maximum_running_tasks", CREATE(CHANGED(maximum_running_tasks, 1025), BH_ROLE_CONSUME));
    CHECK_REFUSED("resource_timeout_ms", CREATE(CHANGED(rules.resource_timeout_ms, UINT64_MAX), BH_ROLE_CONSUME));
    CHECK_REFUSED("ca_file", CREATE(CHANGED(tls.ca_file, "ca.pem"), BH_ROLE_CONSUME));
    CHECK_REFUSED("sends_launch_events is 3", CREATE(CHANGED(sends_launch_events, 3), BH_ROLE_CONSUME));
    CHECK_REFUSED("asks_for_credentials is -1", CREATE(CHANGED(asks_for_credentials, -1), BH_ROLE_CONSUME));
    CHECK_REFUSED("launch_if_stopped_ms", CREATE(CHANGED(launch_if_stopped_ms, UINT32_MAX), BH_ROLE_CONSUME));
    CHECK_REFUSED("timeout_ms", bh_session_create(application, &good, BH_ROLE_CONSUME, -5, &session, NULL, &error));
    CHECK_REFUSED("identifier", bh_session_attach(application, NULL, BH_ROLE_CONSUME, 20000, &session, &error));
    CHECK_REFUSED("identifier", bh_session_attach(application, "", BH_ROLE_CONSUME, 20000, &session, &error));
    CHECK_REFUSED("role", bh_session_attach(application, "gallery", 9, 20000, &session, &error));
    CHECK_REFUSED("session", bh_session_attach(application, "gallery", BH_ROLE_CONSUME, 20000, NULL, &error));
    CHECK_REFUSED("role", bh_session_attach(application, "gallery", 9, BH_START, NULL, &error));
    CHECK(session == (void *)&error);
    CHECK_STATUS(BH_NOT_FOUND, bh_session_attach(application, "gallery", BH_ROLE_OBSERVE, 20000, &session, &error));
    CHECK(session == (void *)&error);
    bh_application_close(application);
#undef CREATE
#undef CHANGED
}

static void a_new_configuration_cannot_change_the_identifier_of_its_session(void) {
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_batch *batch = NULL;
    configuration.identifier = "other";
    CHECK_REFUSED("identifier", bh_session_set_configuration(session, &configuration, 20000, &error));
    CHECK_REFUSED("configuration", bh_session_set_configuration(session, NULL, 20000, &error));
    configuration.identifier = NULL;
    configuration.connections_per_origin = 2;
    CHECK_STATUS(BH_OK, bh_session_set_configuration(session, &configuration, 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_get_configuration(session, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1);
    const bh_session_configuration *remembered = bh_batch_configuration_at(batch, 0);
    CHECK(strcmp(remembered->identifier, "gallery") == 0);
    CHECK(remembered->connections_per_origin == 2 && remembered->maximum_running_tasks == 64);
    CHECK(remembered->rules.request_timeout_ms == 60000 && remembered->struct_size == sizeof *remembered);
    bh_batch_release(batch);
}

static void an_enqueue_with_one_invalid_request_makes_no_task(void) {
    enum { COUNT = 3000, BAD = 2345 };
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request *requests = malloc(COUNT * sizeof *requests);
    bh_request bad;
    bh_batch *results = NULL;
    bh_batch *tasks = NULL;
    bh_header header = {"Accept", "*/*"}, split = {"X", "a\r\nHost: b"}, headers[101];
    char *long_url = repeated('a', 20000), data[4] = {0};
    memcpy(long_url, "http://", 7);
    for (int i = 0; i < 101; i++) headers[i] = header;
#define CHECK_BAD(word, ...)                                                                                           \
    do {                                                                                                               \
        for (int i = 0; i < COUNT; i++) requests[i] = idle_request();                                                  \
        bad = requests[BAD];                                                                                           \
        __VA_ARGS__;                                                                                                   \
        requests[BAD] = bad;                                                                                           \
        results = UNTOUCHED;                                                                                           \
        CHECK_REFUSED_AT(word, BAD, bh_session_enqueue(session, requests, COUNT, 20000, &results, &error));            \
        CHECK(results == NULL);                                                                                        \
    } while (0)
    CHECK_BAD("struct_size", bad.struct_size = 0);
    CHECK_BAD("struct_size", bad.struct_size = sizeof bad + 8); /* larger than in the first request */
    CHECK_BAD("struct_size", bad.struct_size = SIZE_MAX);
    CHECK_BAD("url is NULL", bad.url = NULL);
    CHECK_BAD("url", bad.url = "");
    CHECK_BAD("16384", bad.url = long_url);
    CHECK_BAD("UTF-8", bad.url = "http://example.org/\xFF");
    CHECK_BAD("http", bad.url = "ftp://example.org/");
    CHECK_BAD("URL", bad.url = "file:///etc/passwd");
    CHECK_BAD("URL", bad.url = "http://");
    CHECK_BAD("URL", bad.url = "not a URL");
    CHECK_BAD("URL", bad.url = "http://user:secret@example.org/");
    CHECK_BAD("URL", bad.url = "http://example.org/with space");
    CHECK_BAD("destination", bad.destination = "relative/file");
    CHECK_BAD("destination", bad.destination = "");
    CHECK_BAD("4095", bad.destination = long_url);
    CHECK_BAD("idempotency_key", bad.idempotency_key = "");
    CHECK_BAD("255", bad.idempotency_key = repeated('k', 256));
    CHECK_BAD("headers is NULL", bad.header_count = 1);
    CHECK_BAD("header_count", bad.headers = headers; bad.header_count = 101);
    CHECK_BAD("header_count", bad.headers = headers; bad.header_count = SIZE_MAX);
    CHECK_BAD("line break", bad.headers = &split; bad.header_count = 1);
    header.name = NULL;
    CHECK_BAD("header", bad.headers = &header; bad.header_count = 1);
    header.name = "Accept", header.value = NULL;
    CHECK_BAD("Accept", bad.headers = &header; bad.header_count = 1);
    CHECK_BAD("user_data is NULL", bad.user_data_size = 1);
    CHECK_BAD("user_data_size", bad.user_data = data; bad.user_data_size = BH_USER_DATA_SIZE_MAXIMUM + 1);
    CHECK_BAD("user_data_size", bad.user_data = data; bad.user_data_size = SIZE_MAX);
    CHECK_BAD("if_exists is 3", bad.if_exists = 3);
    CHECK_BAD("priority", bad.priority = BH_PRIORITY_NOW + 1);
    CHECK_BAD("priority", bad.priority = INT32_MIN);
    CHECK_BAD("flags", bad.flags = 16);
    CHECK_BAD("mode", bad.mode = 01777);
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 1, 20000, &tasks, &error));
    CHECK(bh_batch_count(tasks) == 0);
    bh_batch_release(tasks);
    bh_application_close(application);
    free(requests);
#undef CHECK_BAD
}

static void an_enqueue_with_an_invalid_array_is_refused(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request requests[2] = {idle_request(), idle_request()};
    bh_batch *results = NULL;
#define ENQUEUE(requests, count) bh_session_enqueue(session, requests, count, 20000, &results, &error)
    CHECK_REFUSED("requests is NULL", ENQUEUE(NULL, 1));
    CHECK_REFUSED("count is 10000001", ENQUEUE(requests, BH_ENQUEUE_COUNT_MAXIMUM + 1));
    CHECK_REFUSED("count", ENQUEUE(requests, SIZE_MAX));
    CHECK_REFUSED("timeout_ms", bh_session_enqueue(session, requests, 2, -3, &results, &error));
    CHECK_REFUSED("count", bh_session_enqueue(session, requests, SIZE_MAX, BH_START, NULL, &error));
    CHECK(error.ticket == NULL);
    CHECK_STATUS(BH_OK, ENQUEUE(NULL, 0));
    CHECK(results != NULL && bh_batch_count(results) == 0);
    bh_batch_release(results);
    CHECK_STATUS(BH_OK, ENQUEUE(requests, 2));
    CHECK(bh_batch_count(results) == 2);
    bh_batch_release(results);
    bh_application_close(application);
#undef ENQUEUE
}

static void polls_and_listings_refuse_a_maximum_below_1_or_above_10000(void) {
    static const size_t counts[] = {0, 10001, SIZE_MAX, SIZE_MAX / 2};
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_batch *batch = (void *)&error;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CHECK_REFUSED("maximum", bh_session_poll(session, 0, counts[i], 0, &batch, &error));
        CHECK_REFUSED("maximum", bh_session_tasks(session, NULL, 0, counts[i], 0, &batch, &error));
    }
    CHECK_REFUSED("events", bh_session_poll(session, 0, 1, 0, NULL, &error));
    CHECK_REFUSED("tasks", bh_session_tasks(session, NULL, 0, 1, 0, NULL, &error));
    CHECK_REFUSED("task", bh_session_task(session, 1, 0, NULL, &error));
    CHECK_REFUSED("configuration", bh_session_get_configuration(session, 0, NULL, &error));
    CHECK_REFUSED("sessions", bh_application_sessions(application, 0, NULL, &error));
    CHECK_REFUSED("sessions", bh_application_poll(application, 0, NULL, &error));
    CHECK_REFUSED("descriptor", bh_application_event_fd(application, NULL, &error));
    CHECK_REFUSED("descriptor", bh_session_event_fd(session, NULL, &error));
    CHECK_REFUSED("ticket", bh_application_next_ticket(application, NULL, &error));
    CHECK(batch == (void *)&error);
    CHECK_STATUS(BH_OK, bh_session_poll(session, UINT64_MAX, 10000, 0, &batch, &error));
    CHECK(bh_batch_count(batch) == 0 && !bh_batch_more(batch));
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, UINT64_MAX, 10000, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 0);
    bh_batch_release(batch);
    bh_application_close(application);
}

static void invalid_selections_and_ids_are_refused(void) {
    bh_task_selection selection = BH_INIT(bh_task_selection);
    uint64_t ids[] = {1, UINT64_MAX}, count = 99;
    bh_batch *batch = NULL;
    selection.id_count = 1;
    CHECK_REFUSED("ids", bh_tasks_cancel(session, &selection, 20000, NULL, &error));
    selection.ids = ids;
    selection.id_count = SIZE_MAX;
    CHECK_REFUSED("id_count", bh_tasks_suspend(session, &selection, 20000, NULL, &error));
    selection.id_count = 2;
    selection.states = 1u << 30;
    CHECK_REFUSED("states", bh_tasks_resume(session, &selection, 20000, NULL, &error));
    selection.states = BH_STATE(BH_TASK_WAITING);
    selection.struct_size = 4;
    CHECK_REFUSED("struct_size", bh_session_tasks(session, &selection, 0, 1, 20000, &batch, &error));
    selection.struct_size = sizeof selection;
    CHECK_REFUSED("priority", bh_tasks_set_priority(session, &selection, 102, 20000, &count, &error));
    CHECK(count == 99);
    CHECK_STATUS(BH_OK, bh_tasks_set_priority(session, &selection, -100, 20000, &count, &error));
    CHECK(count == 0);
    CHECK_REFUSED("ids", bh_session_acknowledge(session, NULL, 1, 20000, &count, &error));
    CHECK_REFUSED("count", bh_session_acknowledge(session, ids, SIZE_MAX, 20000, &count, &error));
    /* No event has these ids yet, so no program can have received such an event. */
    CHECK_REFUSED("event", bh_session_acknowledge(session, ids, 2, 20000, &count, &error));
    CHECK_REFUSED("event", bh_session_acknowledge_through(session, UINT64_MAX, 20000, &count, &error));
    CHECK(count == 0);
    CHECK_STATUS(BH_OK, bh_session_acknowledge(session, NULL, 0, 20000, &count, &error));
    CHECK(count == 0);
    CHECK_STATUS(BH_NOT_FOUND, bh_session_task(session, 0, 20000, &batch, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_session_task(session, UINT64_MAX, 20000, &batch, &error));
    CHECK(batch == NULL);
    CHECK_REFUSED("destination", bh_task_claim(session, 1, NULL, 0, 20000, &error));
    CHECK_REFUSED("destination", bh_task_claim(session, 1, "relative", 0, 20000, &error));
    CHECK_REFUSED("if_exists", bh_task_claim(session, 1, "/tmp/claimed", 7, 20000, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_task_claim(session, UINT64_MAX, "/tmp/claimed", 0, 20000, &error));
    CHECK_REFUSED("mode is 0", bh_session_invalidate(session, 0, 20000, &error));
    CHECK_REFUSED("mode is 3", bh_session_invalidate(session, 3, 20000, &error));
}

static void the_listing_has_the_values_of_the_request(void) {
    bh_request request = idle_request();
    bh_batch *batch = NULL;
    char url[] = "http://127.0.0.1:9/file", key[] = "key \xC3\xA9", data[] = {1, 0, (char)255};
    request.url = url;
    request.idempotency_key = key;
    request.user_data = data;
    request.user_data_size = sizeof data;
    request.priority = -3;
    bh_enqueued result = enqueue_one(session, &request);
    CHECK(result.disposition == BH_ENQUEUE_NEW && result.event_id == 0);
    /* The library has copied the arguments, so later changes by the program have no effect. */
    memset(url, 'x', sizeof url - 1), memset(key, 'x', sizeof key - 1), memset(data, 'x', sizeof data);
    CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1 && bh_batch_task_at(batch, 1) == NULL && bh_batch_event_at(batch, 0) == NULL);
    const bh_task_info *task = bh_batch_task_at(batch, 0);
    CHECK(task->struct_size == sizeof *task && task->id == result.task_id);
    CHECK(strcmp(task->url, "http://127.0.0.1:9/file") == 0 && strcmp(task->idempotency_key, "key \xC3\xA9") == 0);
    CHECK(task->user_data_size == 3 && memcmp(task->user_data, "\1\0\377", 3) == 0);
    CHECK(task->state == BH_TASK_SUSPENDED && task->priority == -3 && task->destination == NULL);
    CHECK(task->size == BH_SIZE_UNKNOWN && task->offset == 0 && task->status == BH_OK && task->enqueued_ms > 0);
    bh_batch_release(batch);
}

MAIN(TEST(invalid_options_of_an_application_are_refused),
     TEST(invalid_configurations_and_roles_of_a_session_are_refused),
     CONSUMER_TEST(a_new_configuration_cannot_change_the_identifier_of_its_session),
     TEST(an_enqueue_with_one_invalid_request_makes_no_task), TEST(an_enqueue_with_an_invalid_array_is_refused),
     TEST(polls_and_listings_refuse_a_maximum_below_1_or_above_10000),
     CONSUMER_TEST(invalid_selections_and_ids_are_refused), CONSUMER_TEST(the_listing_has_the_values_of_the_request))
