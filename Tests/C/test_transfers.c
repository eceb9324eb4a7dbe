/* Options of requests, sessions (named collections of tasks) and the store. Valid values are returned unchanged. The
 * error about an invalid value names the field. */
#include "fields.h"

#include <stddef.h>

static const char checksum[] = "sha-256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static bh_session_configuration everything(void) {
    static const bh_header headers[] = {{"Accept", "image/png"}, {"X-Token", "secret"}};
    bh_session_configuration given = BH_INIT(bh_session_configuration);
    given.identifier = "gallery";
    given.retry.jitter_percent = 7;
    given.retry.errors = BH_RETRY_NAME | BH_RETRY_BAD_RESPONSE;
    given.retry.unsafe_methods = BH_YES;
    given.retry.statuses = "503,520-529";
    given.rules.accepted_statuses = "200,404";
    given.rules.accepted_types = "image/*,application/zip";
    given.rules.http_version = BH_HTTP_1_1;
    given.rules.redirects = BH_REDIRECTS_SAME_ORIGIN;
    given.rules.maximum_redirects = 3;
    given.rules.maximum_size = 4;
    given.headers = headers;
    given.header_count = 2;
    given.bytes_per_second = 5;
    given.proxy.url = "http://127.0.0.1:3128";
    given.proxy.user = "me";
    given.proxy.password = "opensesame";
    given.proxy.bypass = "localhost";
    given.cookies = BH_COOKIES_PERSISTENT;
    given.tls.minimum_version = BH_TLS_1_3;
    given.tls.client_certificate = "/c.pem";
    given.tls.client_key = "/k.pem";
    given.tls.pinned_public_keys = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    given.history_limit = BH_HISTORY_NONE;
    given.tolerances = BH_TOLERATE_MISSING_CLOSE_NOTIFY | BH_TOLERATE_EARLY_RESPONSE;
    return given;
}

static void a_configuration_is_read_back_unchanged(void) {
    bh_session_configuration given = everything();
    bh_session *session = NULL;
    bh_batch *batch = NULL;
    const bh_session_configuration *got = stored_configuration(application, &given, &session, &batch);
    CHECK(got != NULL && got->struct_size == sizeof *got);
    CHECK(got->retry.jitter_percent == 7 && got->retry.errors == (BH_RETRY_NAME | BH_RETRY_BAD_RESPONSE));
    CHECK(got->retry.unsafe_methods == BH_YES && got->rules.http_version == BH_HTTP_1_1);
    CHECK_TEXT("503,520-529", got->retry.statuses);
    CHECK_TEXT("200,404", got->rules.accepted_statuses);
    CHECK_TEXT("image/*,application/zip", got->rules.accepted_types);
    CHECK(got->rules.redirects == BH_REDIRECTS_SAME_ORIGIN && got->rules.maximum_redirects == 3);
    CHECK(got->rules.maximum_size == 4);
    CHECK(got->header_count == 2 && got->bytes_per_second == 5);
    CHECK_TEXT("X-Token", got->headers[1].name);
    CHECK_TEXT("secret", got->headers[1].value);
    CHECK_TEXT("http://127.0.0.1:3128", got->proxy.url);
    CHECK_TEXT("me", got->proxy.user);
    CHECK_TEXT("opensesame", got->proxy.password);
    CHECK_TEXT("localhost", got->proxy.bypass);
    CHECK(got->cookies == BH_COOKIES_PERSISTENT && got->tls.minimum_version == BH_TLS_1_3);
    CHECK_TEXT("/c.pem", got->tls.client_certificate);
    CHECK_TEXT("/k.pem", got->tls.client_key);
    CHECK_TEXT(given.tls.pinned_public_keys, got->tls.pinned_public_keys);
    CHECK(got->history_limit == BH_HISTORY_NONE);
    CHECK(got->tolerances == (BH_TOLERATE_MISSING_CLOSE_NOTIFY | BH_TOLERATE_EARLY_RESPONSE));
    CHECK_STATUS(BH_OK, bh_session_set_configuration(session, got, 20000, &error));
    bh_batch_release(batch);
}

static void a_struct_shorter_than_in_version_1_0_of_the_header_is_refused(void) {
    bh_session_configuration given = everything();
    bh_session *session = NULL;
    given.struct_size = offsetof(bh_session_configuration, slow_pause_ms);
    CHECK_REFUSED("struct_size",
                  bh_session_create(application, &given, BH_ROLE_PRODUCE, 20000, &session, NULL, &error));
    CHECK(session == NULL);
}

static void fields_that_are_0_are_read_back_with_their_defaults(void) {
    bh_session_configuration given = BH_INIT(bh_session_configuration);
    bh_session *session = NULL;
    bh_batch *batch = NULL;
    given.identifier = "gallery";
    const bh_session_configuration *got = stored_configuration(application, &given, &session, &batch);
    CHECK(got->retry.jitter_percent == 50 && got->retry.unsafe_methods == BH_NO && got->header_count == 0);
    CHECK(got->rules.request_timeout_ms == 60000 && got->rules.maximum_redirects == 20);
    CHECK_TEXT("200-299", got->rules.accepted_statuses);
    CHECK(got->proxy.url == NULL && got->cookies == BH_COOKIES_NONE && got->history_limit == 1000);
    CHECK(got->budget.daily == 0 && got->constraints.preset == BH_PRESET_DEFAULT && got->constraints.networks == 0);
    bh_batch_release(batch);
}

static void the_error_for_an_invalid_setting_names_the_field(void) {
    bh_application *application = open_application();
    bh_session_configuration given;
    bh_session *session = NULL;
#define CHECK_BAD(word, ...)                                                                                           \
    do {                                                                                                               \
        given = everything();                                                                                          \
        __VA_ARGS__;                                                                                                   \
        CHECK_REFUSED(word, bh_session_create(application, &given, BH_ROLE_PRODUCE, 20000, &session, NULL, &error));   \
        if (strstr(error.message, "opensesame")) FAIL("the message has the password: %s", error.message);              \
    } while (0)
    CHECK_BAD("retry.jitter_percent", given.retry.jitter_percent = 101);
    CHECK_BAD("retry.errors", given.retry.errors = BH_RETRY_NONE | BH_RETRY_NAME);
    CHECK_BAD("retry.unsafe_methods", given.retry.unsafe_methods = 3);
    CHECK_BAD("retry.statuses", given.retry.statuses = "5xx");
    CHECK_BAD("accepted_statuses", given.rules.accepted_statuses = "200-");
    CHECK_BAD("accepted_types", given.rules.accepted_types = "a");
    CHECK_BAD("http_version", given.rules.http_version = 4);
    CHECK_BAD("redirects", given.rules.redirects = 4);
    CHECK_BAD("maximum_redirects", given.rules.maximum_redirects = 101);
    CHECK_BAD("headers is NULL", given.headers = NULL);
    CHECK_BAD("proxy", given.proxy.url = "ftp://127.0.0.1");
    CHECK_BAD("proxy.url has an invalid port", given.proxy.url = "http://127.0.0.1:+80");
    CHECK_BAD("proxy.url is not a scheme", given.proxy.url = "http://:80");
    CHECK_BAD("proxy.user", given.proxy.url = "http://me:opensesame@127.0.0.1");
    CHECK_BAD("proxy.user", given.proxy.user = NULL);
    CHECK_BAD("cookies", given.cookies = 4);
    CHECK_BAD("tls.minimum_version", given.tls.minimum_version = 11);
    CHECK_BAD("client_certificate", given.tls.client_certificate = "relative");
    CHECK_BAD("client_certificate", given.tls.client_certificate = NULL);
    CHECK_BAD("pinned_public_keys", given.tls.pinned_public_keys = "md5//AAAA");
    CHECK_BAD("history_limit", given.history_limit = 100001);
    CHECK_BAD("tolerances has the unknown bits 0x4", given.tolerances = 4);
    CHECK(session == NULL);
    bh_application_close(application);
#undef CHECK_BAD
}

static void the_error_for_an_invalid_request_names_the_field(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_PRODUCE);
    bh_policy policy = BH_INIT(bh_policy);
    bh_part part = BH_INIT(bh_part);
    bh_request bad;
#define CHECK_BAD(word, ...)                                                                                           \
    do {                                                                                                               \
        bad = idle_request();                                                                                          \
        __VA_ARGS__;                                                                                                   \
        CHECK_REFUSED(word, bh_session_enqueue(session, &bad, 1, 20000, NULL, &error));                                \
        CHECK(error.index == 0);                                                                                       \
    } while (0)
    CHECK_BAD("method", bad.method = "CONNECT");
    CHECK_BAD("method", bad.method = "");
    CHECK_BAD("group", bad.group = "");
    CHECK_BAD("checksum", bad.checksum = "sha-256:00");
    CHECK_BAD("body is NULL", bad.body_size = 1);
    CHECK_BAD("body_size", bad.body = ""; bad.body_size = BH_BODY_SIZE_MAXIMUM + 1);
    CHECK_BAD("body_source", bad.body_source = BH_BODY_CONSUME);
    CHECK_BAD("body_source", bad.body = "a"; bad.body_size = 1; bad.body_source = 3);
    CHECK_BAD("body_file and body", bad.body_file = "/tmp/a"; bad.body = "a"; bad.body_size = 1);
    CHECK_BAD("parts is NULL", bad.part_count = 1);
    CHECK_BAD("part_count", bad.parts = &part; bad.part_count = BH_PART_COUNT_MAXIMUM + 1);
    CHECK_BAD("name", bad.parts = &part; bad.part_count = 1);
    part.name = "n";
    part.file = "/dev/null";
    part.value = "v";
    part.value_size = 1;
    bad = idle_request();
    bad.parts = &part;
    bad.part_count = 1;
    CHECK(bh_session_enqueue(session, &bad, 1, 20000, NULL, &error) != BH_OK);
    CHECK_BAD("refresh", bad.refresh = 3);
    CHECK_BAD("expires_ms", bad.expires_ms = 1);
    CHECK_BAD("expires_ms", bad.refresh = BH_REFRESH_URL; bad.expires_ms = -1);
    CHECK_BAD("BH_IF_EXISTS_SKIP", bad.if_exists = BH_IF_EXISTS_SKIP);
    CHECK_BAD("BH_REQUEST_IF_CHANGED", bad.flags |= BH_REQUEST_IF_CHANGED);
    CHECK_BAD("checksum", bad.checksum = checksum; bad.body = "a"; bad.body_size = 1);
    policy.struct_size = 0;
    CHECK_BAD("policy", bad.policy = &policy);
    policy = (bh_policy)BH_INIT(bh_policy);
    policy.retry.first_delay_ms = 2;
    policy.retry.longest_delay_ms = 1;
    CHECK_BAD("retry.longest_delay_ms", bad.policy = &policy);
    bh_application_close(application);
#undef CHECK_BAD
}

static void a_request_with_every_option_is_accepted_and_listed(void) {
    bh_request requests[2] = {idle_request(), idle_request()};
    bh_policy policy = BH_INIT(bh_policy);
    bh_part part = {sizeof part, "field", NULL, "value", 5, NULL, "text/plain"};
    bh_task_selection selection = BH_INIT(bh_task_selection);
    bh_batch *tasks = NULL;
    uint64_t count = 0;
    policy.retry.maximum_attempts = 3;
    policy.rules.accepted_statuses = "200";
    requests[0].group = requests[1].group = "photos";
    requests[0].policy = requests[1].policy = &policy;
    requests[0].checksum = checksum;
    requests[0].expected_size = 10;
    requests[0].priority = BH_PRIORITY_NOW;
    requests[0].refresh = BH_REFRESH_URL;
    requests[0].expires_ms = 1900000000000;
    requests[1].method = "PATCH";
    requests[1].parts = &part;
    requests[1].part_count = 1;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
    selection.group = "photos";
    CHECK_STATUS(BH_OK, bh_session_tasks(session, &selection, 0, 10, 20000, &tasks, &error));
    CHECK(bh_batch_count(tasks) == 2);
    CHECK(bh_batch_task_at(tasks, 0)->kind == BH_TASK_KIND_DOWNLOAD);
    CHECK(bh_batch_task_at(tasks, 0)->priority == BH_PRIORITY_NOW);
    CHECK(bh_batch_task_at(tasks, 1)->kind == BH_TASK_KIND_UPLOAD);
    CHECK_TEXT("photos", bh_batch_task_at(tasks, 1)->group);
    CHECK(bh_batch_attempt_at(tasks, 0) == NULL && bh_batch_limits_at(tasks, 0) == NULL);
    bh_batch_release(tasks);
    CHECK_STATUS(BH_OK, bh_tasks_set_rate(session, &selection, 1000, 20000, &count, &error));
    CHECK(count == 2);
    selection.group = "";
    CHECK_REFUSED("group", bh_tasks_cancel(session, &selection, 20000, &count, &error));
    selection.group = "others";
    CHECK_STATUS(BH_OK, bh_tasks_cancel(session, &selection, 20000, &count, &error));
    CHECK(count == 0);
}

static void the_range_of_a_request_must_fit_its_body_and_is_stored(void) {
    bh_request requests[2] = {idle_request(), idle_request()};
    bh_batch *results = NULL;
    requests[0].range_start = 5;
    requests[0].range_size = 7;
    requests[0].idempotency_key = "slice";
    requests[1].body_file = "/etc/passwd";
    requests[1].range_start = 1;
    requests[1].range_size = 2;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 1, 20000, &results, &error));
    CHECK(bh_batch_enqueued_at(results, 0)->disposition == BH_ENQUEUE_EXISTING);
    bh_batch_release(results);
    requests[0].range_size = 8;
    CHECK_STATUS(BH_KEY_CONFLICT, bh_session_enqueue(session, requests, 1, 20000, NULL, &error));
    CHECK(strstr(error.message, "range_size") != NULL);
    requests[1].range_size = UINT64_C(1) << 60;
    CHECK_REFUSED("body_file", bh_session_enqueue(session, &requests[1], 1, 20000, NULL, &error));
    requests[1].range_size = 2;
    requests[1].body_source = BH_BODY_CONSUME;
    CHECK_REFUSED("BH_BODY_CONSUME", bh_session_enqueue(session, &requests[1], 1, 20000, NULL, &error));
}

static void a_request_may_wait_for_other_tasks_until_they_end(void) {
    bh_request requests[2] = {idle_request(), idle_request()};
    bh_dependency after[2] = {BH_INIT(bh_dependency), BH_INIT(bh_dependency)};
    bh_header from = {"X-Token", "header:X-Given"};
    bh_task_selection selection = BH_INIT(bh_task_selection);
    bh_batch *results = NULL, *tasks = NULL;
    uint64_t count = 0;
    requests[0].idempotency_key = "create";
    after[0].idempotency_key = "create";
    after[0].url = "header:Location";
    after[0].headers = &from;
    after[0].header_count = 1;
    requests[1].after = after;
    requests[1].after_count = 1;
    requests[1].flags = 0;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 2, 20000, &results, &error));
    uint64_t first = bh_batch_enqueued_at(results, 0)->task_id;
    selection.ids = &bh_batch_enqueued_at(results, 1)->task_id;
    selection.id_count = 1;
    CHECK_STATUS(BH_OK, bh_session_tasks(session, &selection, 0, 10, 20000, &tasks, &error));
    CHECK(bh_batch_task_at(tasks, 0)->reason == BH_REASON_DEPENDENCY);
    char name[32];
    snprintf(name, sizeof name, "task %llu ", (unsigned long long)first);
    CHECK(strstr(bh_batch_task_at(tasks, 0)->reason_text, name) != NULL);
    bh_batch_release(tasks);
    selection.ids = &first;
    CHECK_STATUS(BH_OK, bh_tasks_cancel(session, &selection, 20000, &count, &error));
    CHECK(count == 1);
    selection.ids = &bh_batch_enqueued_at(results, 1)->task_id;
    CHECK_STATUS(BH_OK, bh_session_tasks(session, &selection, 0, 10, 20000, &tasks, &error));
    CHECK(bh_batch_task_at(tasks, 0)->status == BH_DEPENDENCY_FAILED);
    bh_batch_release(tasks);
    bh_batch_release(results);
#define CHECK_BAD(name, change)                                                                                        \
    do {                                                                                                               \
        after[1] = after[0];                                                                                           \
        after[1].headers = NULL;                                                                                       \
        after[1].header_count = 0;                                                                                     \
        change;                                                                                                        \
        requests[1].after = &after[1];                                                                                 \
        CHECK_REFUSED(name, bh_session_enqueue(session, &requests[1], 1, 20000, NULL, &error));                        \
    } while (0)
    CHECK_BAD("task_id", after[1].task_id = 1);
    CHECK_BAD("task_id", after[1].idempotency_key = NULL);
    CHECK_BAD("cookie", after[1].url = "cookie");
    CHECK_BAD("if_fails", after[1].if_fails = 4);
    CHECK_BAD("BH_DEPENDENCY_FAILURE_IGNORE", after[1].if_fails = BH_DEPENDENCY_FAILURE_IGNORE);
    CHECK_BAD("after", after[1].reserved = 1);
    CHECK_BAD("after_count", requests[1].after_count = BH_AFTER_COUNT_MAXIMUM + 1);
#undef CHECK_BAD
}

static void limits_are_read_back_unchanged(void) {
    bh_limits limits = BH_INIT(bh_limits);
    bh_batch *batch = NULL;
    CHECK_REFUSED("limits", bh_store_set_limits(application, NULL, 20000, &error));
    limits.maximum_connections = 1025;
    CHECK_REFUSED("maximum_connections", bh_store_set_limits(application, &limits, 20000, &error));
    limits.maximum_connections = 2;
    limits.bytes_per_second = UINT64_MAX >> 1;
    CHECK_STATUS(BH_OK, bh_store_set_limits(application, &limits, 20000, &error));
    CHECK_STATUS(BH_OK, bh_store_limits(application, 20000, &batch, &error));
    const bh_limits *got = bh_batch_limits_at(batch, 0);
    CHECK(got != NULL && bh_batch_limits_at(batch, 1) == NULL);
    CHECK(got->maximum_connections == 2 && got->maximum_running_tasks == 256 && got->connections_per_origin == 0);
    CHECK(got->bytes_per_second == UINT64_MAX >> 1);
    bh_batch_release(batch);
}

static void metrics_are_open_metrics_text(void) {
    bh_batch *batch = NULL;
    CHECK_STATUS(BH_OK, bh_store_metrics(application, 20000, &batch, &error));
    const bh_metrics *metrics = bh_batch_metrics_at(batch, 0);
    CHECK(metrics != NULL && bh_batch_metrics_at(batch, 1) == NULL && bh_batch_limits_at(batch, 0) == NULL);
    CHECK(strstr(metrics->text, "\nbackhaul_tasks{state=\"waiting\"} 0\n") != NULL);
    CHECK(strcmp(metrics->text + strlen(metrics->text) - 7, "\n# EOF\n") == 0);
    bh_batch_release(batch);
}

static void each_application_is_listed_with_the_counts_of_its_sessions(void) {
    bh_session *gallery = create_session(application, "gallery", BH_ROLE_PRODUCE);
    bh_batch *batch = NULL;
    CHECK_STATUS(BH_OK, bh_store_applications(application, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1 && bh_batch_session_at(batch, 0) == NULL);
    const bh_application_info *info = bh_batch_application_at(batch, 0);
    CHECK(info != NULL && info->struct_size == sizeof *info && info->sessions == 1 && info->hosts == 1);
    CHECK(info->live_tasks == 0 && info->running_tasks == 0 && info->events == 0 && !info->has_launch_command);
    CHECK_TEXT("org.example.tests", info->identifier);
    bh_batch_release(batch);
    bh_session_close(gallery);
}

MAIN(APPLICATION_TEST(a_configuration_is_read_back_unchanged),
     APPLICATION_TEST(a_struct_shorter_than_in_version_1_0_of_the_header_is_refused),
     APPLICATION_TEST(fields_that_are_0_are_read_back_with_their_defaults),
     TEST(the_error_for_an_invalid_setting_names_the_field), TEST(the_error_for_an_invalid_request_names_the_field),
     PRODUCER_TEST(a_request_with_every_option_is_accepted_and_listed),
     PRODUCER_TEST(the_range_of_a_request_must_fit_its_body_and_is_stored),
     PRODUCER_TEST(a_request_may_wait_for_other_tasks_until_they_end), APPLICATION_TEST(limits_are_read_back_unchanged),
     APPLICATION_TEST(metrics_are_open_metrics_text),
     APPLICATION_TEST(each_application_is_listed_with_the_counts_of_its_sessions))
