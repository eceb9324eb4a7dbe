/* The results of an enqueue that succeeds, and of an enqueue that is refused. An enqueue stores requests as tasks. A
 * request is applied when it is stored. */
#include "check.h"

static bh_error error = BH_INIT(bh_error);

/* The library sends COUNT requests to the engine (the part that runs the tasks) in several chunks. REFUSED is the index
 * of the request that the engine refuses. */
enum { COUNT = 20000, REFUSED = 12345 };

/* Returns COUNT requests for suspended tasks. An idempotency key is a text that identifies a request. The request with
 * the index REFUSED has the idempotency key of an existing task, but another URL, so the engine refuses it. */
static bh_request *requests_with_a_conflict(bh_session *session) {
    static bh_request requests[COUNT];
    bh_request request = idle_request();
    request.idempotency_key = "taken";
    enqueue_one(session, &request);
    for (int i = 0; i < COUNT; i++) requests[i] = idle_request();
    requests[REFUSED].idempotency_key = "taken";
    requests[REFUSED].url = "http://127.0.0.1:9/another";
    return requests;
}

static size_t count_tasks(bh_session *session) {
    bh_batch *tasks = NULL;
    size_t count = 0;
    uint64_t last = 0;
    for (bool more = true; more; bh_batch_release(tasks)) {
        CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, last, 10000, 20000, &tasks, &error));
        more = bh_batch_more(tasks);
        count += bh_batch_count(tasks);
        if (bh_batch_count(tasks) > 0) last = bh_batch_task_at(tasks, bh_batch_count(tasks) - 1)->id;
    }
    return count;
}

static void check_results(bh_session *session, const bh_batch *results) {
    size_t count = bh_batch_count(results);
    CHECK(count > 0 && count < COUNT);
    CHECK(bh_batch_enqueued_at(results, 0)->request == 0);
    for (size_t i = 0; i < count; i++) {
        const bh_enqueued *result = bh_batch_enqueued_at(results, i);
        CHECK(result->request < COUNT && result->request != REFUSED);
        CHECK(i == 0 || result->request > bh_batch_enqueued_at(results, i - 1)->request);
        CHECK(result->task_id != 0 && result->disposition == BH_ENQUEUE_NEW && result->event_id == 0);
    }
    /* The session has one more task: the existing task with the idempotency key. */
    CHECK(count_tasks(session) == count + 1);
}

static void an_enqueue_that_is_refused_in_the_middle_returns_the_results_of_the_applied_requests(void) {
    bh_batch *results = NULL;
    bh_request *requests = requests_with_a_conflict(session);
    CHECK_STATUS(BH_KEY_CONFLICT, bh_session_enqueue(session, requests, COUNT, 60000, &results, &error));
    CHECK(error.index == REFUSED && error.ticket == NULL && results != NULL);
    check_results(session, results);
    bh_batch_release(results);
}

static void the_ticket_of_a_refused_enqueue_has_the_results_of_the_applied_requests(void) {
    bh_batch *results = NULL;
    bh_request *requests = requests_with_a_conflict(session);
    bh_ticket *ticket = ticket_of(bh_session_enqueue(session, requests, COUNT, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_KEY_CONFLICT, bh_ticket_wait(ticket, 60000, &error));
    CHECK(error.index == REFUSED);
    CHECK_STATUS(BH_KEY_CONFLICT, bh_ticket_batch(ticket, &results, &error));
    CHECK(error.index == REFUSED && results != NULL);
    check_results(session, results);
    bh_batch_release(results);
}

static void after_a_refusal_a_second_enqueue_applies_the_remaining_requests(void) {
    bh_batch *results = NULL;
    bh_request *requests = requests_with_a_conflict(session);
    bh_status status = bh_session_enqueue(session, requests, COUNT, 60000, &results, &error);
    CHECK_STATUS(BH_KEY_CONFLICT, status);
    static bool is_applied[COUNT];
    size_t left = 0;
    for (size_t i = 0; i < bh_batch_count(results); i++) is_applied[bh_batch_enqueued_at(results, i)->request] = true;
    bh_batch_release(results);
    is_applied[error.index] = true;
    for (size_t i = 0; i < COUNT; i++)
        if (!is_applied[i]) requests[left++] = requests[i];
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, left, 60000, &results, &error));
    CHECK(bh_batch_count(results) == left);
    bh_batch_release(results);
    CHECK(count_tasks(session) == COUNT);
}

static void the_results_of_a_refused_enqueue_are_null_if_no_request_was_applied(void) {
    bh_request requests[2] = {idle_request(), idle_request()};
    bh_batch *results = UNTOUCHED;
    requests[1].url = "ftp://example.org/";
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_session_enqueue(session, requests, 2, 20000, &results, &error));
    CHECK(results == NULL && error.index == 1);
    requests[0].idempotency_key = "taken";
    enqueue_one(session, requests);
    requests[0].url = "http://127.0.0.1:9/another";
    results = UNTOUCHED;
    CHECK_STATUS(BH_KEY_CONFLICT, bh_session_enqueue(session, requests, 1, 20000, &results, &error));
    CHECK(results == NULL && error.index == 0);
    bh_ticket *ticket = ticket_of(bh_session_enqueue(session, requests, 1, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_KEY_CONFLICT, bh_ticket_wait(ticket, 20000, &error));
    results = UNTOUCHED;
    CHECK_STATUS(BH_KEY_CONFLICT, bh_ticket_batch(ticket, &results, &error));
    CHECK(results == NULL || results == UNTOUCHED);
}

static void the_results_are_null_when_the_role_or_the_handle_does_not_allow_an_enqueue(void) {
    bh_session *session = create_session(application, "gallery", BH_ROLE_OBSERVE);
    bh_request request = idle_request();
    bh_batch *results = UNTOUCHED;
    CHECK_STATUS(BH_WRONG_ROLE, bh_session_enqueue(session, &request, 1, 20000, &results, &error));
    CHECK(results == NULL);
    bh_session_close(session);
    results = UNTOUCHED;
    CHECK_STATUS(BH_INVALID_HANDLE, bh_session_enqueue(session, &request, 1, 20000, &results, &error));
    CHECK(results == NULL);
}

static void an_enqueue_accepts_null_instead_of_a_results_parameter(void) {
    bh_request requests[2] = {idle_request(), idle_request()};
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
    CHECK(count_tasks(session) == 2);
    requests[1].idempotency_key = "taken";
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 2, 20000, NULL, NULL));
    requests[1].url = "http://127.0.0.1:9/another";
    CHECK_STATUS(BH_KEY_CONFLICT, bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
    CHECK(error.index == 1 && count_tasks(session) == 4);
}

MAIN(CONSUMER_TEST(an_enqueue_that_is_refused_in_the_middle_returns_the_results_of_the_applied_requests),
     CONSUMER_TEST(the_ticket_of_a_refused_enqueue_has_the_results_of_the_applied_requests),
     CONSUMER_TEST(after_a_refusal_a_second_enqueue_applies_the_remaining_requests),
     CONSUMER_TEST(the_results_of_a_refused_enqueue_are_null_if_no_request_was_applied),
     APPLICATION_TEST(the_results_are_null_when_the_role_or_the_handle_does_not_allow_an_enqueue),
     PRODUCER_TEST(an_enqueue_accepts_null_instead_of_a_results_parameter))
