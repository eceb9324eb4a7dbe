/* Started operations (their calls do not wait for the results), and operations whose wait timed out. A ticket stands
 * for the result of such an operation. */
#include "engine_process.h"

#include <poll.h>
#include <time.h>

static bh_error error = BH_INIT(bh_error);

static int is_readable(int descriptor, int timeout_ms) {
    struct pollfd entry = {descriptor, POLLIN, 0};
    return poll(&entry, 1, timeout_ms) == 1;
}

static void the_end_of_an_operation_makes_the_event_descriptor_of_the_application_readable(void) {
    enum { COUNT = 50 };
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *started[COUNT], *ticket = NULL;
    int descriptor = -1, returned = 0;
    CHECK_STATUS(BH_OK, bh_application_event_fd(application, &descriptor, &error));
    CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &ticket, &error));
    CHECK(ticket == NULL);
    for (int i = 0; i < COUNT; i++)
        started[i] = ticket_of(bh_session_tasks(session, NULL, 0, 1, BH_START, NULL, &error), &error);
    while (returned < COUNT) {
        CHECK(is_readable(descriptor, 20000));
        CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &ticket, &error));
        if (!ticket) continue;
        int known = -1;
        for (int i = 0; i < COUNT; i++)
            if (started[i] == ticket) known = i;
        CHECK(known >= 0);
        started[known] = NULL;
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 0, &error));
        bh_ticket_release(ticket);
        returned++;
    }
    CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &ticket, &error));
    CHECK(ticket == NULL);
    CHECK(!is_readable(descriptor, 0));
    bh_application_close(application);
}

static void next_ticket_returns_a_ticket_as_soon_as_a_wait_has_returned_its_result(void) {
    bh_ticket *next = NULL;
    for (int i = 0; i < 100; i++) {
        bh_ticket *ticket = ticket_of(bh_session_complete(session, BH_START, &error), &error);
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
        CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &next, &error));
        CHECK(next == ticket);
        bh_ticket_release(ticket);
    }
}

static void next_ticket_never_returns_a_released_ticket(void) {
    bh_ticket *next = NULL;
    int descriptor = -1;
    CHECK_STATUS(BH_OK, bh_application_event_fd(application, &descriptor, &error));
    for (int i = 0; i < 100; i++) {
        bh_ticket *ticket = ticket_of(bh_session_complete(session, BH_START, &error), &error);
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
        bh_ticket_release(ticket);
    }
    CHECK(!is_readable(descriptor, 0));
    CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &next, &error));
    CHECK(next == NULL);
}

#define START_CREATE() bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_START, NULL, NULL, &error)

static void a_session_can_be_taken_from_its_ticket_only_one_time(void) {
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_session *session = NULL, *again = NULL;
    bh_batch *batch = NULL;
    uint64_t count = 0;
    bh_session_disposition disposition = 0;
    configuration.identifier = "gallery";
    bh_ticket *ticket = ticket_of(START_CREATE(), &error);
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_batch(ticket, &batch, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_count(ticket, &count, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 0, &error));
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_ticket_session(ticket, NULL, NULL, &error));
    CHECK_STATUS(BH_OK, bh_ticket_session(ticket, &session, &disposition, &error));
    CHECK(disposition == BH_SESSION_CREATED);
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_session(ticket, &again, NULL, &error));
    CHECK(again == NULL);
    bh_ticket_release(ticket);
    /* The session remains valid without its ticket. */
    CHECK_STATUS(BH_OK, bh_session_complete(session, 20000, &error));
}

static void a_session_that_was_not_taken_is_closed_with_its_ticket(void) {
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_ticket *ticket = NULL;
    configuration.identifier = "gallery";
    for (int i = 0; i < 3; i++) {
        ticket = ticket_of(START_CREATE(), &error);
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
        bh_ticket_release(ticket);
    }
    /* The consumer of a session reads the session's events. Only one handle at a time can be the consumer. If a
     * released ticket still had the session, this call would be refused. */
    bh_session_close(create_session(application, "gallery", BH_ROLE_CONSUME));
    /* The ticket is released before its reply arrives. When the reply arrives, the library closes the session. */
    ticket = ticket_of(START_CREATE(), &error);
    bh_ticket_release(ticket);
    bh_session *session = NULL;
    bh_status status = BH_IN_USE;
    for (int i = 0; i < 100 && status == BH_IN_USE; i++)
        status = bh_session_attach(application, "gallery", BH_ROLE_CONSUME, 20000, &session, &error);
    CHECK(status == BH_OK);
}

static void a_batch_can_be_taken_from_its_ticket_only_one_time(void) {
    bh_batch *batch = NULL, *again = NULL;
    bh_ticket *ticket = ticket_of(bh_session_get_configuration(session, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &batch, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_batch(ticket, &again, &error));
    CHECK(again == NULL);
    bh_ticket_release(ticket);
    CHECK(strcmp(bh_batch_configuration_at(batch, 0)->identifier, "gallery") == 0);
    bh_batch_release(batch);
}

static void each_function_of_a_ticket_returns_the_error_of_its_operation(void) {
    bh_session *session = NULL;
    bh_ticket *ticket =
        ticket_of(bh_session_attach(application, "nowhere", BH_ROLE_CONSUME, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_wait(ticket, 20000, &error));
    CHECK(error.status == BH_NOT_FOUND && strlen(error.message) > 10);
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_session(ticket, &session, NULL, &error));
    CHECK(session == NULL);
    bh_ticket_release(ticket);
    bh_session *other = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_batch *batch = NULL;
    ticket = ticket_of(bh_session_task(other, 12345, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_batch(ticket, &batch, &error));
    CHECK(batch == NULL);
}

static bh_ticket *start_enqueue(bh_session *session, const bh_request *requests, size_t count) {
    return ticket_of(bh_session_enqueue(session, requests, count, BH_START, NULL, &error), &error);
}

static void the_results_of_a_started_enqueue_can_be_taken_from_its_ticket_only_one_time(void) {
    enum { COUNT = 5 };
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request requests[COUNT];
    bh_batch *results = NULL, *again = NULL;
    for (int i = 0; i < COUNT; i++) requests[i] = idle_request();
    bh_ticket *ticket = start_enqueue(session, requests, COUNT);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &results, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_batch(ticket, &again, &error));
    CHECK(again == NULL);
    bh_ticket_release(ticket);
    CHECK(bh_batch_count(results) == COUNT && !bh_batch_more(results));
    for (size_t i = 0; i < COUNT; i++) {
        const bh_enqueued *result = bh_batch_enqueued_at(results, i);
        CHECK(result->request == i && result->task_id != 0 && result->disposition == BH_ENQUEUE_NEW);
        CHECK(result->event_id == 0);
    }
    bh_batch_release(results);
    bh_application_close(application);
}

/* Enqueues one request with BH_START, and returns its result. */
static bh_enqueued enqueue_again(bh_session *session, const bh_request *request) {
    bh_batch *results = NULL;
    bh_ticket *ticket = start_enqueue(session, request, 1);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &results, &error));
    bh_ticket_release(ticket);
    CHECK(bh_batch_count(results) == 1);
    bh_enqueued result = *bh_batch_enqueued_at(results, 0);
    bh_batch_release(results);
    return result;
}

static void a_ticket_of_an_enqueue_distinguishes_live_tasks_from_ended_ones(void) {
    bh_request request = idle_request();
    bh_batch *batch = NULL;
    request.idempotency_key = "once";
    bh_enqueued first = enqueue_again(session, &request);
    CHECK(first.disposition == BH_ENQUEUE_NEW);
    bh_enqueued found = enqueue_again(session, &request);
    CHECK(found.struct_size == sizeof found && found.request == 0 && found.task_id == first.task_id);
    CHECK(found.disposition == BH_ENQUEUE_EXISTING);
    CHECK(found.task_state == BH_TASK_SUSPENDED && found.event_id == 0);
    CHECK_STATUS(BH_OK, bh_tasks_cancel(session, NULL, 20000, NULL, &error));
    CHECK_STATUS(BH_OK, bh_session_poll(session, 0, 1, 20000, &batch, &error));
    uint64_t end = bh_batch_event_at(batch, 0)->id;
    bh_batch_release(batch);
    found = enqueue_again(session, &request);
    CHECK(found.disposition == BH_ENQUEUE_EXISTING && found.task_id == first.task_id);
    CHECK(found.task_state == BH_TASK_CANCELLED && found.event_id == end);
    CHECK_STATUS(BH_OK, bh_session_acknowledge(session, &end, 1, 20000, NULL, &error));
    found = enqueue_again(session, &request);
    CHECK(found.disposition == BH_ENQUEUE_NEW && found.task_id != first.task_id);
}

static void only_requests_with_the_key_of_a_task_have_the_disposition_existing(void) {
    bh_request requests[3] = {idle_request(), idle_request(), idle_request()};
    bh_batch *results[2] = {NULL, NULL};
    requests[1].idempotency_key = "once";
    for (int i = 0; i < 2; i++)
        CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 3, 20000, &results[i], &error));
    for (size_t i = 0; i < 3; i++) {
        const bh_enqueued *first = bh_batch_enqueued_at(results[0], i), *second = bh_batch_enqueued_at(results[1], i);
        CHECK(first->request == i && second->request == i && first->disposition == BH_ENQUEUE_NEW);
        CHECK(second->disposition == (i == 1 ? BH_ENQUEUE_EXISTING : BH_ENQUEUE_NEW));
        CHECK((first->task_id == second->task_id) == (i == 1));
    }
    bh_batch_release(results[0]);
    bh_batch_release(results[1]);
}

static void a_ticket_keeps_the_pointer_that_a_program_stores_in_it(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *next = NULL;
    int mine = 0, other = 0, descriptor = -1;
    bh_ticket *ticket = ticket_of(bh_session_complete(session, BH_START, &error), &error);
    bh_ticket *second = ticket_of(bh_session_complete(session, BH_START, &error), &error);
    CHECK(bh_ticket_data(ticket) == NULL);
    bh_ticket_set_data(ticket, &mine);
    bh_ticket_set_data(second, &other);
    CHECK(bh_ticket_data(ticket) == &mine && bh_ticket_data(second) == &other);
    CHECK_STATUS(BH_OK, bh_application_event_fd(application, &descriptor, &error));
    for (int i = 0; i < 2; i++) {
        CHECK(is_readable(descriptor, 20000));
        CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &next, &error));
        CHECK(next == ticket || next == second);
        CHECK(bh_ticket_data(next) == (next == ticket ? &mine : &other));
    }
    bh_ticket_set_data(ticket, NULL);
    CHECK(bh_ticket_data(ticket) == NULL && bh_ticket_data(second) == &other);
    bh_ticket_release(second);
    CHECK(bh_ticket_data(second) == NULL);
    bh_application_close(application);
    CHECK(bh_ticket_data(ticket) == NULL);
}

static void the_ticket_of_a_started_cancel_has_the_number_of_cancelled_tasks(void) {
    bh_request request = idle_request();
    uint64_t count = 99;
    enqueue_one(session, &request);
    bh_ticket *ticket = ticket_of(bh_tasks_cancel(session, NULL, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_ticket_count(ticket, NULL, &error));
    CHECK_STATUS(BH_OK, bh_ticket_count(ticket, &count, &error));
    CHECK(count == 1);
    bh_ticket_release(ticket);
}

static void a_call_that_times_out_returns_the_ticket_of_its_operation(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = idle_request();
    bh_batch *results = NULL;
    stop(engine);
    bh_status status = bh_session_enqueue(session, &request, 1, 100, &results, &error);
    CHECK(status == BH_ENGINE_UNRESPONSIVE || status == BH_TIMEOUT);
    CHECK(error.status == status && error.ticket != NULL && results == NULL);
    CHECK(error.domain == BH_DOMAIN_PROCESS && error.detail == engine);
    bh_ticket *ticket = error.ticket;
    CHECK_STATUS(status, bh_ticket_wait(ticket, 50, &error));
    CHECK(error.ticket == NULL);
    CHECK_STATUS(status, bh_ticket_batch(ticket, &results, &error));
    /* Without an error struct, the call returns no ticket. The operation continues, but the program cannot read the
     * result. */
    CHECK(bh_session_complete(session, 50, NULL) == status);
    kill(engine, SIGCONT);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &results, &error));
    CHECK(bh_batch_count(results) == 1 && bh_batch_enqueued_at(results, 0)->disposition == BH_ENQUEUE_NEW);
    bh_batch_release(results);
    bh_ticket_release(ticket);
    bh_application_close(application);
    end(engine);
}

static void an_engine_that_is_stopped_before_its_first_reply_is_named_in_the_error(void) {
    pid_t engine = start_engine();
    bh_application_options options = BH_INIT(bh_application_options);
    bh_application *application = NULL;
    bh_batch *batch = NULL;
    options.identifier = "org.example.tests";
    options.store = store;
    options.hosting = BH_HOSTING_EMBEDDED;
    stop(engine);
    /* On a busy machine, the time may pass before the library has found the engine. */
    bh_status status = BH_TIMEOUT;
    while (status == BH_TIMEOUT) status = bh_application_open(&options, 1000, &application, &error);
    CHECK_STATUS(BH_ENGINE_UNRESPONSIVE, status);
    CHECK(application == NULL && error.ticket == NULL && strstr(error.message, "ticket") == NULL);
    CHECK(error.domain == BH_DOMAIN_PROCESS && error.detail == engine);
    CHECK_STATUS(BH_OK, bh_application_open(&options, 0, &application, &error));
    status = BH_TIMEOUT;
    while (status == BH_TIMEOUT) {
        bh_ticket_release(error.ticket);
        status = bh_application_sessions(application, 1000, &batch, &error);
    }
    CHECK_STATUS(BH_ENGINE_UNRESPONSIVE, status);
    CHECK(error.ticket != NULL && error.domain == BH_DOMAIN_PROCESS && error.detail == engine);
    bh_ticket *ticket = error.ticket;
    kill(engine, SIGCONT);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    bh_ticket_release(ticket);
    bh_application_close(application);
    end(engine);
}

static void polls_keep_their_time_outs_while_the_engine_is_stopped(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_batch *events = NULL;
    stop(engine);
    /* A poll of a running engine waits up to five seconds for its reply. With so many such waits, the test would exceed
     * its time limit. */
    for (int i = 0; i < 40; i++) {
        bh_status status = bh_session_poll(session, 0, 1, 0, &events, &error);
        CHECK(status == BH_ENGINE_UNRESPONSIVE || status == BH_TIMEOUT);
        bh_ticket_release(error.ticket);
    }
    bh_application_close(application);
    end(engine);
}

static void the_event_descriptor_of_a_session_is_not_readable_while_a_poll_waits_for_its_reply(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = idle_request();
    bh_batch *events = NULL;
    int descriptor = -1;
    CHECK_STATUS(BH_OK, bh_session_event_fd(session, &descriptor, &error));
    enqueue_one(session, &request);
    enqueue_one(session, &request);
    CHECK_STATUS(BH_OK, bh_tasks_cancel(session, NULL, 20000, NULL, &error));
    CHECK(is_readable(descriptor, 20000));
    CHECK_STATUS(BH_OK, bh_session_poll(session, 0, 1, 20000, &events, &error));
    CHECK(bh_batch_count(events) == 1);
    bh_batch_release(events);
    CHECK(is_readable(descriptor, 20000));
    stop(engine);
    /* An earlier poll has returned the first event. A second poll for the same event needs a reply from the engine. */
    bh_ticket *ticket = ticket_of(bh_session_poll(session, 0, 1, BH_START, NULL, &error), &error);
    CHECK(!is_readable(descriptor, 0));
    kill(engine, SIGCONT);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK(is_readable(descriptor, 20000));
    bh_ticket_release(ticket);
    bh_application_close(application);
    end(engine);
}

static void an_operation_of_an_engine_that_is_killed_before_its_reply_still_succeeds(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = idle_request();
    bh_batch *results = NULL;
    stop(engine);
    bh_ticket *ticket = start_enqueue(session, &request, 1);
    end(engine);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &results, &error));
    CHECK(bh_batch_count(results) == 1 && bh_batch_enqueued_at(results, 0)->disposition == BH_ENQUEUE_NEW);
    bh_batch_release(results);
    bh_application_close(application);
}

static void closing_does_not_wait_for_an_engine_that_is_stopped(void) {
    enum { COUNT = 20000 };
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request *requests = malloc(COUNT * sizeof *requests);
    struct timespec before, after;
    for (int i = 0; i < COUNT; i++) requests[i] = idle_request();
    stop(engine);
    /* The requests are larger than the buffer of a socket. */
    bh_ticket *ticket = start_enqueue(session, requests, COUNT);
    CHECK(bh_ticket_wait(ticket, 200, NULL) != BH_OK);
    clock_gettime(CLOCK_MONOTONIC, &before);
    bh_application_close(application);
    clock_gettime(CLOCK_MONOTONIC, &after);
    /* The header promises that closing takes about a second. The limit of this test is higher, because the machine may
     * be busy. */
    CHECK(after.tv_sec - before.tv_sec < 10);
    free(requests);
    end(engine);
}

MAIN(TEST(the_end_of_an_operation_makes_the_event_descriptor_of_the_application_readable),
     CONSUMER_TEST(next_ticket_returns_a_ticket_as_soon_as_a_wait_has_returned_its_result),
     CONSUMER_TEST(next_ticket_never_returns_a_released_ticket),
     APPLICATION_TEST(a_session_can_be_taken_from_its_ticket_only_one_time),
     APPLICATION_TEST(a_session_that_was_not_taken_is_closed_with_its_ticket),
     CONSUMER_TEST(a_batch_can_be_taken_from_its_ticket_only_one_time),
     APPLICATION_TEST(each_function_of_a_ticket_returns_the_error_of_its_operation),
     TEST(the_results_of_a_started_enqueue_can_be_taken_from_its_ticket_only_one_time),
     CONSUMER_TEST(the_ticket_of_a_started_cancel_has_the_number_of_cancelled_tasks),
     CONSUMER_TEST(a_ticket_of_an_enqueue_distinguishes_live_tasks_from_ended_ones),
     CONSUMER_TEST(only_requests_with_the_key_of_a_task_have_the_disposition_existing),
     TEST(a_ticket_keeps_the_pointer_that_a_program_stores_in_it),
     TEST(a_call_that_times_out_returns_the_ticket_of_its_operation),
     TEST(an_engine_that_is_stopped_before_its_first_reply_is_named_in_the_error),
     TEST(an_operation_of_an_engine_that_is_killed_before_its_reply_still_succeeds),
     TEST(the_event_descriptor_of_a_session_is_not_readable_while_a_poll_waits_for_its_reply),
     TEST(polls_keep_their_time_outs_while_the_engine_is_stopped),
     TEST(closing_does_not_wait_for_an_engine_that_is_stopped))
