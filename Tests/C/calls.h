/* Calls of every function that takes a handle, which is a pointer that stands for an object of the library. Each call
 * passes a given handle and otherwise valid arguments. */
#ifndef CALLS_H
#define CALLS_H

#include "check.h"

enum kind { APPLICATION, SESSION, TICKET, BATCH };

/* How a function uses timeout_ms. If timeout_ms is BH_START, a function starts the operation and does not wait for it.
 * NO_STATUS: the function returns no bh_status. NEVER: the function has no timeout_ms. WAITS: the function refuses
 * BH_START. STARTS: the function accepts BH_START. */
enum waiting { NO_STATUS, NEVER, WAITS, STARTS };

struct call {
    const char *name;
    enum kind kind;
    enum waiting waiting;
    bh_status (*make)(void *handle, int32_t timeout_ms, bh_error *error);
};

/* Defines a function that makes the call with the handle `self`. If the called function has no status, the new
 * function returns BH_INVALID_HANDLE. */
#define CALL(function, type, ...)                                                                                      \
    static bh_status call_##function(void *handle, int32_t timeout_ms, bh_error *error) {                              \
        type *self = handle;                                                                                           \
        (void)timeout_ms;                                                                                              \
        (void)error;                                                                                                   \
        __VA_ARGS__                                                                                                    \
    }

/* A call with one output parameter. If the status is not BH_OK, the call must leave the parameter unchanged. */
#define CALL_OUT(function, type, out_type, unset, ...)                                                                 \
    CALL(function, type, out_type out = unset; bh_status status = function(self, __VA_ARGS__, &out, error);            \
         CHECK(status == BH_OK || out == unset); return status;)

/* The common forms: functions that return a batch (an immutable list), and functions that count what they changed. */
#define CALL_BATCH(function, type, ...) CALL_OUT(function, type, bh_batch *, UNTOUCHED, __VA_ARGS__)
#define CALL_COUNT_OUT(function, type, ...) CALL_OUT(function, type, uint64_t, 7, __VA_ARGS__)

#define CALL_DESCRIPTOR(function, type)                                                                                \
    CALL(function, type, int descriptor = -7; bh_status status = function(self, &descriptor, error);                   \
         CHECK((status == BH_OK) == (descriptor != -7)); return status;)

#include "calls_conditions.h"

CALL_DESCRIPTOR(bh_application_event_fd, bh_application)
CALL_BATCH(bh_application_poll, bh_application, timeout_ms)
CALL_BATCH(bh_application_sessions, bh_application, timeout_ms)
CALL_BATCH(bh_application_current_launch, bh_application, timeout_ms)
CALL_BATCH(bh_store_engine, bh_application, timeout_ms)
CALL_BATCH(bh_store_limits, bh_application, timeout_ms)
CALL_BATCH(bh_store_launches, bh_application, timeout_ms)
CALL_BATCH(bh_store_metrics, bh_application, timeout_ms)
CALL_BATCH(bh_store_applications, bh_application, timeout_ms)
CALL(bh_application_set_launch, bh_application, return bh_application_set_launch(self, NULL, timeout_ms, error);)
CALL(bh_store_set_limits, bh_application, bh_limits limits = BH_INIT(bh_limits);
     return bh_store_set_limits(self, &limits, timeout_ms, error);)
CALL(bh_application_next_ticket, bh_application, bh_ticket *ticket = UNTOUCHED;
     bh_status status = bh_application_next_ticket(self, &ticket, error); CHECK(status == BH_OK || ticket == UNTOUCHED);
     return status;)
CALL(bh_session_create, bh_application, bh_session_configuration configuration = BH_INIT(bh_session_configuration);
     bh_session *session = UNTOUCHED; bh_session_disposition disposition = -7; configuration.identifier = "s";
     bh_status status = bh_session_create(self, &configuration, BH_ROLE_OBSERVE, timeout_ms, &session, &disposition,
                                          error);
     CHECK(status == BH_OK || (session == UNTOUCHED && disposition == -7)); return status;)
CALL_OUT(bh_session_attach, bh_application, bh_session *, UNTOUCHED, "s", BH_ROLE_OBSERVE, timeout_ms)
CALL(bh_application_close, bh_application, bh_application_close(self); return BH_INVALID_HANDLE;)

CALL_DESCRIPTOR(bh_session_event_fd, bh_session)
CALL_DESCRIPTOR(bh_session_progress_fd, bh_session)
CALL_BATCH(bh_session_get_configuration, bh_session, timeout_ms)
CALL(bh_session_set_configuration, bh_session,
     bh_session_configuration configuration = BH_INIT(bh_session_configuration);
     return bh_session_set_configuration(self, &configuration, timeout_ms, error);)
CALL(bh_session_complete, bh_session, return bh_session_complete(self, timeout_ms, error);)
CALL(bh_session_invalidate, bh_session, return bh_session_invalidate(self, BH_INVALIDATE_CANCEL, timeout_ms, error);)
CALL(bh_session_enqueue, bh_session, bh_request request = idle_request(); bh_batch *results = UNTOUCHED;
     bh_status status = bh_session_enqueue(self, &request, 1, timeout_ms, &results, error);
     CHECK(status == BH_OK || results == UNTOUCHED || (results == NULL && timeout_ms != BH_START)); return status;)
CALL_BATCH(bh_session_poll, bh_session, 0, 10, timeout_ms)
CALL_COUNT_OUT(bh_session_acknowledge, bh_session, NULL, 0, timeout_ms)
CALL_COUNT_OUT(bh_session_acknowledge_through, bh_session, 1, timeout_ms)
CALL_BATCH(bh_session_challenges, bh_session, timeout_ms)
CALL(bh_session_respond, bh_session, bh_challenge_response response = BH_INIT(bh_challenge_response);
     response.kind = BH_RESPOND_REFUSE; return bh_session_respond(self, 1, &response, timeout_ms, error);)
CALL_BATCH(bh_session_tasks, bh_session, NULL, 0, 10, timeout_ms)
CALL_BATCH(bh_session_task, bh_session, 1, timeout_ms)
CALL_BATCH(bh_session_history, bh_session, 0, 10, timeout_ms)
CALL_COUNT_OUT(bh_tasks_cancel, bh_session, NULL, timeout_ms)
CALL_COUNT_OUT(bh_tasks_suspend, bh_session, NULL, timeout_ms)
CALL_COUNT_OUT(bh_tasks_set_aside, bh_session, NULL, timeout_ms)
CALL_COUNT_OUT(bh_tasks_resume, bh_session, NULL, timeout_ms)
CALL_COUNT_OUT(bh_tasks_set_priority, bh_session, NULL, 1, timeout_ms)
CALL_COUNT_OUT(bh_tasks_set_rate, bh_session, NULL, 1, timeout_ms)
CALL_COUNT_OUT(bh_tasks_set_constraints, bh_session, NULL, NULL, timeout_ms)
CALL_COUNT_OUT(bh_tasks_reschedule, bh_session, NULL, 0, BH_TIME_UNCHANGED, timeout_ms)
CALL(bh_task_claim, bh_session, return bh_task_claim(self, 1, "/tmp/claimed", BH_IF_EXISTS_FAIL, timeout_ms, error);)
CALL_BATCH(bh_task_attempts, bh_session, 1, timeout_ms)
CALL_BATCH(bh_tasks_attempts, bh_session, NULL, 0, timeout_ms)
CALL(bh_session_watch_progress, bh_session, return bh_session_watch_progress(self, 100, timeout_ms, error);)
CALL_BATCH(bh_session_poll_progress, bh_session, timeout_ms)
CALL(bh_session_close, bh_session, bh_session_close(self); return BH_INVALID_HANDLE;)

CALL(bh_ticket_wait, bh_ticket, return bh_ticket_wait(self, timeout_ms, error);)
CALL(bh_ticket_session, bh_ticket, bh_session *session = UNTOUCHED; bh_session_disposition disposition = -7;
     bh_status status = bh_ticket_session(self, &session, &disposition, error);
     CHECK(status == BH_OK || (session == UNTOUCHED && disposition == -7)); return status;)
CALL(bh_ticket_batch, bh_ticket, bh_batch *batch = UNTOUCHED; bh_status status = bh_ticket_batch(self, &batch, error);
     CHECK(status == BH_OK || batch == UNTOUCHED); return status;)
CALL(bh_ticket_count, bh_ticket, uint64_t count = 7; bh_status status = bh_ticket_count(self, &count, error);
     CHECK(status == BH_OK || count == 7); return status;)
CALL(bh_ticket_set_data, bh_ticket, bh_ticket_set_data(self, UNTOUCHED); return BH_INVALID_HANDLE;)
CALL(bh_ticket_data, bh_ticket, CHECK(bh_ticket_data(self) == NULL); return BH_INVALID_HANDLE;)
CALL(bh_ticket_release, bh_ticket, bh_ticket_release(self); return BH_INVALID_HANDLE;)

CALL(bh_batch_count, bh_batch, CHECK(bh_batch_count(self) == 0); return BH_INVALID_HANDLE;)
CALL(bh_batch_more, bh_batch, CHECK(!bh_batch_more(self)); return BH_INVALID_HANDLE;)
#define CHECK_NO_ITEM(constant, name, type, value) CHECK(bh_batch_##name##_at(self, 0) == NULL);
CALL(bh_batch_item, bh_batch, BH_ITEM_TABLE(CHECK_NO_ITEM) return BH_INVALID_HANDLE;)
CALL(bh_batch_release, bh_batch, bh_batch_release(self); return BH_INVALID_HANDLE;)

/* The tests make the calls in the order of this array, so functions that free the handle come last. */
#define ENTRY(function, kind, waiting) {#function, kind, waiting, call_##function}
static const struct call calls[] = {
    CONDITION_CALLS,
    ENTRY(bh_application_event_fd, APPLICATION, NEVER),
    ENTRY(bh_application_poll, APPLICATION, WAITS),
    ENTRY(bh_application_sessions, APPLICATION, STARTS),
    ENTRY(bh_application_current_launch, APPLICATION, STARTS),
    ENTRY(bh_store_engine, APPLICATION, STARTS),
    ENTRY(bh_store_limits, APPLICATION, STARTS),
    ENTRY(bh_store_launches, APPLICATION, STARTS),
    ENTRY(bh_store_metrics, APPLICATION, STARTS),
    ENTRY(bh_store_applications, APPLICATION, STARTS),
    ENTRY(bh_application_set_launch, APPLICATION, STARTS),
    ENTRY(bh_store_set_limits, APPLICATION, STARTS),
    ENTRY(bh_application_next_ticket, APPLICATION, NEVER),
    ENTRY(bh_session_create, APPLICATION, STARTS),
    ENTRY(bh_session_attach, APPLICATION, STARTS),
    ENTRY(bh_session_event_fd, SESSION, NEVER),
    ENTRY(bh_session_progress_fd, SESSION, NEVER),
    ENTRY(bh_session_get_configuration, SESSION, STARTS),
    ENTRY(bh_session_set_configuration, SESSION, STARTS),
    ENTRY(bh_session_complete, SESSION, STARTS),
    ENTRY(bh_session_enqueue, SESSION, STARTS),
    ENTRY(bh_session_poll, SESSION, STARTS),
    ENTRY(bh_session_acknowledge, SESSION, STARTS),
    ENTRY(bh_session_acknowledge_through, SESSION, STARTS),
    ENTRY(bh_session_challenges, SESSION, STARTS),
    ENTRY(bh_session_respond, SESSION, STARTS),
    ENTRY(bh_session_tasks, SESSION, STARTS),
    ENTRY(bh_session_task, SESSION, STARTS),
    ENTRY(bh_session_history, SESSION, STARTS),
    ENTRY(bh_tasks_cancel, SESSION, STARTS),
    ENTRY(bh_tasks_suspend, SESSION, STARTS),
    ENTRY(bh_tasks_set_aside, SESSION, STARTS),
    ENTRY(bh_tasks_resume, SESSION, STARTS),
    ENTRY(bh_tasks_set_priority, SESSION, STARTS),
    ENTRY(bh_tasks_set_rate, SESSION, STARTS),
    ENTRY(bh_tasks_set_constraints, SESSION, STARTS),
    ENTRY(bh_tasks_reschedule, SESSION, STARTS),
    ENTRY(bh_task_claim, SESSION, STARTS),
    ENTRY(bh_task_attempts, SESSION, STARTS),
    ENTRY(bh_tasks_attempts, SESSION, STARTS),
    ENTRY(bh_session_watch_progress, SESSION, STARTS),
    ENTRY(bh_session_poll_progress, SESSION, WAITS),
    ENTRY(bh_session_invalidate, SESSION, STARTS),
    ENTRY(bh_ticket_wait, TICKET, WAITS),
    ENTRY(bh_ticket_session, TICKET, NEVER),
    ENTRY(bh_ticket_batch, TICKET, NEVER),
    ENTRY(bh_ticket_count, TICKET, NEVER),
    ENTRY(bh_ticket_set_data, TICKET, NO_STATUS),
    ENTRY(bh_batch_count, BATCH, NO_STATUS),
    ENTRY(bh_batch_more, BATCH, NO_STATUS),
    ENTRY(bh_batch_item, BATCH, NO_STATUS),
    ENTRY(bh_ticket_data, TICKET, NO_STATUS),
    ENTRY(bh_application_close, APPLICATION, NO_STATUS),
    ENTRY(bh_session_close, SESSION, NO_STATUS),
    ENTRY(bh_ticket_release, TICKET, NO_STATUS),
    ENTRY(bh_batch_release, BATCH, NO_STATUS),
};
enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

/* Makes one call. The call must return `status` and fill the error. */
static inline void expect_call(const struct call *call, void *handle, int32_t timeout_ms, bh_status status) {
    bh_error error = BH_INIT(bh_error);
    error.ticket = UNTOUCHED;
    bh_status got = call->make(handle, timeout_ms, &error);
    /* A function without a status does not report why it refuses the handle. */
    if (call->waiting == NO_STATUS) return;
    if (got != status)
        FAIL("%s(timeout_ms %d): %s instead of %s", call->name, timeout_ms, bh_status_name(got),
             bh_status_name(status));
    CHECK(error.status == status);
    CHECK(error.index == BH_NO_INDEX && error.ticket == NULL && error.domain == BH_DOMAIN_NONE);
    CHECK(strlen(error.message) > 10);
}

/* Makes all calls that take a handle of the given kinds, and passes `handle` to each of them. `kinds` has the bit
 * 1 << kind for each kind. If a function accepts BH_START, a further call passes BH_START. */
static inline void expect_all(unsigned kinds, void *handle, bh_status status) {
    for (size_t i = 0; i < CALL_COUNT; i++) {
        if (!(kinds & 1u << calls[i].kind)) continue;
        if (calls[i].waiting == STARTS) expect_call(&calls[i], handle, BH_START, status);
        expect_call(&calls[i], handle, 5000, status);
    }
}

enum { ALL_KINDS = 1u << APPLICATION | 1u << SESSION | 1u << TICKET | 1u << BATCH };

#endif
