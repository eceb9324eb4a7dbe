/* Tests of time-outs, and of calls with BH_START in place of a time-out. Such a call starts an operation, and does
 * not wait for the result. It returns a ticket, which stands for the result. Only one handle of a session at a time
 * can have the consumer role, in which it reads the events of the session. */
#include "calls.h"

#include <stdint.h>

static bh_error error = BH_INIT(bh_error);

struct handles {
    bh_application *application;
    bh_session *session;
    bh_ticket *ticket;
};

static struct handles open_all(void) {
    struct handles all = {open_application(), NULL, NULL};
    all.session = create_session(all.application, "gallery", BH_ROLE_CONSUME);
    all.ticket = ticket_of(bh_session_complete(all.session, BH_START, &error), &error);
    return all;
}

static void *handle_for(const struct call *call, const struct handles *all) {
    if (call->kind == APPLICATION) return all->application;
    return call->kind == SESSION ? (void *)all->session : (void *)all->ticket;
}

static void each_started_operation_returns_a_ticket_and_sets_no_output(void) {
    struct handles all = open_all();
    bh_batch *sessions = NULL;
    for (size_t i = 0; i < CALL_COUNT; i++) {
        if (calls[i].waiting != STARTS) continue;
        memset(&error, 0x55, sizeof error);
        error.struct_size = sizeof error;
        bh_ticket *ticket = ticket_of(calls[i].make(handle_for(&calls[i], &all), BH_START, &error), &error);
        CHECK(error.domain == BH_DOMAIN_NONE && error.detail == 0 && error.index == BH_NO_INDEX);
        CHECK(strlen(error.message) > 10);
        bh_status status = bh_ticket_wait(ticket, 20000, &error);
        if (status == BH_STARTED || status == BH_INTERNAL || status == BH_TIMEOUT)
            FAIL("%s ended with %s: %s", calls[i].name, bh_status_name(status), error.message);
        CHECK(error.ticket == NULL);
        bh_ticket_release(ticket);
    }
    CHECK_STATUS(BH_OK, bh_application_sessions(all.application, 20000, &sessions, &error));
    bh_batch_release(sessions);
    bh_application_close(all.application);
}

static void bh_start_without_an_error_struct_is_refused_and_starts_nothing(void) {
    struct handles all = open_all();
    bh_error unset;
    bh_batch *tasks = NULL, *activities = NULL;
    memset(&unset, 0, sizeof unset);
    for (size_t i = 0; i < CALL_COUNT; i++) {
        if (calls[i].waiting != STARTS) continue;
        void *handle = handle_for(&calls[i], &all);
        CHECK_STATUS(BH_INVALID_ARGUMENT, calls[i].make(handle, BH_START, NULL));
        CHECK_STATUS(BH_INVALID_ARGUMENT, calls[i].make(handle, BH_START, &unset));
        CHECK(unset.status == BH_OK && unset.ticket == NULL && unset.message[0] == 0);
    }
    /* No refused call had an effect: the session exists, and has no task and no activity. */
    CHECK_STATUS(BH_OK, bh_session_tasks(all.session, NULL, 0, 1, 20000, &tasks, &error));
    CHECK_STATUS(BH_OK, bh_session_activities(all.session, 20000, &activities, &error));
    CHECK(bh_batch_count(tasks) == 0 && bh_batch_count(activities) == 0);
    bh_batch_release(tasks);
    bh_batch_release(activities);
    bh_application_close(all.application);
}

static void a_function_that_cannot_start_an_operation_refuses_bh_start(void) {
    struct handles all = open_all();
    for (size_t i = 0; i < CALL_COUNT; i++) {
        if (calls[i].waiting != WAITS) continue;
        expect_call(&calls[i], handle_for(&calls[i], &all), BH_START, BH_INVALID_ARGUMENT);
        CHECK_STATUS(BH_INVALID_ARGUMENT, calls[i].make(handle_for(&calls[i], &all), BH_START, &error));
        if (!strstr(error.message, "BH_START")) FAIL("%s: %s", calls[i].name, error.message);
    }
    bh_application_close(all.application);
}

static void a_timeout_of_minus_1_is_refused_because_there_is_no_endless_wait(void) {
    struct handles all = open_all();
    for (size_t i = 0; i < CALL_COUNT; i++) {
        if (calls[i].waiting != WAITS && calls[i].waiting != STARTS) continue;
        expect_call(&calls[i], handle_for(&calls[i], &all), -1, BH_INVALID_ARGUMENT);
        CHECK_STATUS(BH_INVALID_ARGUMENT, calls[i].make(handle_for(&calls[i], &all), -1, &error));
        if (!strstr(error.message, "timeout_ms is -1") || !strstr(error.message, "no endless wait"))
            FAIL("%s: %s", calls[i].name, error.message);
    }
    bh_application_close(all.application);
}

static void only_timeouts_from_0_to_one_day_and_constants_of_the_header_are_accepted(void) {
    static const int32_t refused[] = {-2, -1000, INT32_MIN, BH_WAIT_MAXIMUM + 1, INT32_MAX};
    struct handles all = open_all();
    for (size_t i = 0; i < CALL_COUNT; i++) {
        if (calls[i].waiting != WAITS && calls[i].waiting != STARTS) continue;
        for (size_t j = 0; j < sizeof refused / sizeof refused[0]; j++)
            expect_call(&calls[i], handle_for(&calls[i], &all), refused[j], BH_INVALID_ARGUMENT);
    }
    CHECK_STATUS(BH_OK, bh_ticket_wait(all.ticket, BH_WAIT_DEFAULT, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(all.ticket, BH_WAIT_MAXIMUM, &error));
    bh_application_close(all.application);
}

static void a_started_operation_has_copies_of_its_arguments(void) {
    struct handles all = open_all();
    bh_request request = idle_request();
    bh_batch *results = NULL, *tasks = NULL;
    char url[] = "http://127.0.0.1:9/file", data[] = "data";
    request.url = url;
    request.user_data = data;
    request.user_data_size = 4;
    bh_ticket *ticket = ticket_of(bh_session_enqueue(all.session, &request, 1, BH_START, NULL, &error), &error);
    memset(url, 'x', sizeof url - 1);
    memset(data, 'x', sizeof data - 1);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &results, &error));
    uint64_t task = bh_batch_enqueued_at(results, 0)->task_id;
    CHECK_STATUS(BH_OK, bh_session_task(all.session, task, 20000, &tasks, &error));
    CHECK(strcmp(bh_batch_task_at(tasks, 0)->url, "http://127.0.0.1:9/file") == 0);
    CHECK(memcmp(bh_batch_task_at(tasks, 0)->user_data, "data", 4) == 0);
    bh_batch_release(results);
    bh_batch_release(tasks);
    bh_application_close(all.application);
}

static void a_started_enqueue_checks_its_requests_and_has_no_ticket_if_a_request_is_refused(void) {
    struct handles all = open_all();
    bh_request requests[2] = {idle_request(), idle_request()};
    requests[1].url = "ftp://example.org/";
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_session_enqueue(all.session, requests, 2, BH_START, NULL, &error));
    CHECK(error.ticket == NULL && error.index == 1);
    requests[1] = idle_request();
    requests[1].destination = "/nowhere-at-all/file";
    CHECK_STATUS(BH_DESTINATION_UNAVAILABLE, bh_session_enqueue(all.session, requests, 2, BH_START, NULL, &error));
    CHECK(error.ticket == NULL && error.index == 1);
    bh_application_close(all.application);
}

static void releasing_the_ticket_of_an_attach_that_waits_for_the_consumer_role_ends_the_wait(void) {
    struct handles all = open_all();
    bh_session *session = NULL;
    bh_ticket *ticket = ticket_of(
        bh_session_attach(all.application, "gallery", BH_ROLE_CONSUME_WHEN_FREE, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_TIMEOUT, bh_ticket_session(ticket, &session, NULL, &error));
    CHECK(session == NULL && error.ticket == NULL);
    bh_ticket_release(ticket);
    bh_session_close(all.session);
    CHECK_STATUS(BH_OK, bh_session_attach(all.application, "gallery", BH_ROLE_CONSUME, 20000, &session, &error));
    bh_application_close(all.application);
}

MAIN(TEST(each_started_operation_returns_a_ticket_and_sets_no_output),
     TEST(bh_start_without_an_error_struct_is_refused_and_starts_nothing),
     TEST(a_function_that_cannot_start_an_operation_refuses_bh_start),
     TEST(a_timeout_of_minus_1_is_refused_because_there_is_no_endless_wait),
     TEST(only_timeouts_from_0_to_one_day_and_constants_of_the_header_are_accepted),
     TEST(a_started_operation_has_copies_of_its_arguments),
     TEST(a_started_enqueue_checks_its_requests_and_has_no_ticket_if_a_request_is_refused),
     TEST(releasing_the_ticket_of_an_attach_that_waits_for_the_consumer_role_ends_the_wait))
