/* Every function that takes a handle, called with a given handle and otherwise good arguments. */
#ifndef CALLS_H
#define CALLS_H

#include "check.h"

enum kind { APPLICATION, SESSION, TICKET, BATCH };

struct call {
    const char *name;
    enum kind kind;
    bh_status (*make)(void *handle, bh_error *error);
};

/* What a call must not touch when it fails. */
static char untouched;
#define UNTOUCHED ((void *)&untouched)

#define CALL(function, handle_kind, type, ...)                                                                         \
    static bh_status call_##function(void *handle, bh_error *error) {                                                  \
        type *self = handle;                                                                                           \
        __VA_ARGS__                                                                                                    \
    }

/* The form of most functions: some arguments, one out parameter that a failure leaves alone. */
#define CALL_OUT(function, handle_kind, type, out_type, ...)                                                           \
    CALL(function, handle_kind, type, out_type *out = UNTOUCHED; bh_status status = function(self, __VA_ARGS__ error); \
         CHECK(status == BH_OK || out == UNTOUCHED); return status;)

#define SELF_OUT &out,

#include "calls_conditions.h"

CALL_OUT(bh_application_poll, APPLICATION, bh_application, bh_batch, 0, SELF_OUT)
CALL_OUT(bh_application_sessions, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_application_sessions_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_application_next_ticket, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_session_attach, APPLICATION, bh_application, bh_session, "s", BH_ROLE_OBSERVE, 5000, SELF_OUT)
CALL_OUT(bh_session_attach_start, APPLICATION, bh_application, bh_ticket, "s", BH_ROLE_OBSERVE, SELF_OUT)
CALL_OUT(bh_session_get_configuration, SESSION, bh_session, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_session_get_configuration_start, SESSION, bh_session, bh_ticket, SELF_OUT)
CALL_OUT(bh_session_complete_start, SESSION, bh_session, bh_ticket, SELF_OUT)
CALL_OUT(bh_session_invalidate_start, SESSION, bh_session, bh_ticket, BH_INVALIDATE_CANCEL, SELF_OUT)
CALL_OUT(bh_session_poll, SESSION, bh_session, bh_batch, 0, 10, 0, SELF_OUT)
CALL_OUT(bh_session_poll_start, SESSION, bh_session, bh_ticket, 0, 10, SELF_OUT)
CALL_OUT(bh_session_acknowledge_start, SESSION, bh_session, bh_ticket, NULL, 0, SELF_OUT)
CALL_OUT(bh_session_acknowledge_through_start, SESSION, bh_session, bh_ticket, 1, SELF_OUT)
CALL_OUT(bh_session_tasks, SESSION, bh_session, bh_batch, NULL, 0, 10, 5000, SELF_OUT)
CALL_OUT(bh_session_tasks_start, SESSION, bh_session, bh_ticket, NULL, 0, 10, SELF_OUT)
CALL_OUT(bh_task_info, SESSION, bh_session, bh_batch, 1, 5000, SELF_OUT)
CALL_OUT(bh_task_info_start, SESSION, bh_session, bh_ticket, 1, SELF_OUT)
CALL_OUT(bh_tasks_cancel_start, SESSION, bh_session, bh_ticket, NULL, SELF_OUT)
CALL_OUT(bh_tasks_suspend_start, SESSION, bh_session, bh_ticket, NULL, SELF_OUT)
CALL_OUT(bh_tasks_resume_start, SESSION, bh_session, bh_ticket, NULL, SELF_OUT)
CALL_OUT(bh_tasks_set_priority_start, SESSION, bh_session, bh_ticket, NULL, 1, SELF_OUT)
CALL_OUT(bh_task_claim_start, SESSION, bh_session, bh_ticket, 1, "/tmp/claimed", 0, SELF_OUT)
CALL_OUT(bh_application_engine, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_application_engine_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_application_launches, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_application_launches_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_application_set_launch_start, APPLICATION, bh_application, bh_ticket, NULL, SELF_OUT)
CALL_OUT(bh_launch_current, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_launch_current_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_session_challenges, SESSION, bh_session, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_session_challenges_start, SESSION, bh_session, bh_ticket, SELF_OUT)
CALL_OUT(bh_session_watch_progress_start, SESSION, bh_session, bh_ticket, 100, SELF_OUT)
CALL_OUT(bh_session_poll_progress, SESSION, bh_session, bh_batch, 0, SELF_OUT)
CALL_OUT(bh_application_get_limits, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_application_get_limits_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_tasks_set_rate_start, SESSION, bh_session, bh_ticket, NULL, 1, SELF_OUT)
CALL_OUT(bh_tasks_set_constraints_start, SESSION, bh_session, bh_ticket, NULL, NULL, SELF_OUT)
CALL_OUT(bh_tasks_reschedule_start, SESSION, bh_session, bh_ticket, NULL, 0, BH_START_UNCHANGED, SELF_OUT)
CALL_OUT(bh_task_attempts, SESSION, bh_session, bh_batch, 1, 5000, SELF_OUT)
CALL_OUT(bh_task_attempts_start, SESSION, bh_session, bh_ticket, 1, SELF_OUT)
CALL_OUT(bh_session_history, SESSION, bh_session, bh_batch, 0, 10, 5000, SELF_OUT)
CALL_OUT(bh_session_history_start, SESSION, bh_session, bh_ticket, 0, 10, SELF_OUT)
CALL_OUT(bh_ticket_batch, TICKET, bh_ticket, bh_batch, SELF_OUT)

CALL(bh_session_complete, SESSION, bh_session, return bh_session_complete(self, 5000, error);)
CALL(bh_session_invalidate, SESSION, bh_session,
     return bh_session_invalidate(self, BH_INVALIDATE_CANCEL, 5000, error);)
CALL(bh_session_acknowledge, SESSION, bh_session, return bh_session_acknowledge(self, NULL, 0, 5000, NULL, error);)
CALL(bh_session_acknowledge_through, SESSION, bh_session,
     return bh_session_acknowledge_through(self, 1, 5000, NULL, error);)
CALL(bh_tasks_cancel, SESSION, bh_session, return bh_tasks_cancel(self, NULL, 5000, NULL, error);)
CALL(bh_tasks_suspend, SESSION, bh_session, return bh_tasks_suspend(self, NULL, 5000, NULL, error);)
CALL(bh_tasks_resume, SESSION, bh_session, return bh_tasks_resume(self, NULL, 5000, NULL, error);)
CALL(bh_tasks_set_priority, SESSION, bh_session, return bh_tasks_set_priority(self, NULL, 1, 5000, NULL, error);)
CALL(bh_tasks_set_rate, SESSION, bh_session, return bh_tasks_set_rate(self, NULL, 1, 5000, NULL, error);)
CALL(bh_tasks_set_constraints, SESSION, bh_session,
     return bh_tasks_set_constraints(self, NULL, NULL, 5000, NULL, error);)
CALL(bh_tasks_reschedule, SESSION, bh_session,
     return bh_tasks_reschedule(self, NULL, 0, BH_START_UNCHANGED, 5000, NULL, error);)
CALL(bh_application_set_limits, APPLICATION, bh_application, bh_limits limits = BH_LIMITS_INIT;
     return bh_application_set_limits(self, &limits, 5000, error);)
CALL(bh_application_set_limits_start, APPLICATION, bh_application, bh_limits limits = BH_LIMITS_INIT;
     bh_ticket *ticket = UNTOUCHED; bh_status status = bh_application_set_limits_start(self, &limits, &ticket, error);
     CHECK(status == BH_OK || ticket == UNTOUCHED); return status;)
CALL(bh_task_claim, SESSION, bh_session, return bh_task_claim(self, 1, "/tmp/claimed", 0, 5000, error);)
CALL(bh_application_set_launch, APPLICATION, bh_application,
     return bh_application_set_launch(self, NULL, 5000, error);)
CALL(bh_session_watch_progress, SESSION, bh_session, return bh_session_watch_progress(self, 100, 5000, error);)
CALL(bh_session_respond, SESSION, bh_session, bh_response response = BH_RESPONSE_INIT;
     response.kind = BH_RESPOND_REFUSE; return bh_session_respond(self, 1, &response, 5000, error);)
CALL(bh_session_respond_start, SESSION, bh_session, bh_response response = BH_RESPONSE_INIT;
     bh_ticket *ticket = UNTOUCHED; response.kind = BH_RESPOND_REFUSE;
     bh_status status = bh_session_respond_start(self, 1, &response, &ticket, error);
     CHECK(status == BH_OK || ticket == UNTOUCHED); return status;)
CALL(bh_session_progress_fd, SESSION, bh_session, int descriptor = -7;
     bh_status status = bh_session_progress_fd(self, &descriptor, error);
     CHECK((status == BH_OK) == (descriptor != -7)); return status;)
CALL(bh_ticket_wait, TICKET, bh_ticket, return bh_ticket_wait(self, 5000, error);)

CALL(bh_application_event_fd, APPLICATION, bh_application, int descriptor = -7;
     bh_status status = bh_application_event_fd(self, &descriptor, error);
     CHECK((status == BH_OK) == (descriptor != -7)); return status;)
CALL(bh_session_event_fd, SESSION, bh_session, int descriptor = -7;
     bh_status status = bh_session_event_fd(self, &descriptor, error);
     CHECK((status == BH_OK) == (descriptor != -7)); return status;)
CALL(bh_session_create, APPLICATION, bh_application,
     bh_session_configuration configuration = BH_SESSION_CONFIGURATION_INIT; bh_session *session = UNTOUCHED;
     int32_t disposition = -7; configuration.identifier = "s";
     bh_status status =
         bh_session_create(self, &configuration, BH_ROLE_OBSERVE, 5000, &session, &disposition, error);
     CHECK(status == BH_OK || (session == UNTOUCHED && disposition == -7)); return status;)
CALL(bh_session_create_start, APPLICATION, bh_application,
     bh_session_configuration configuration = BH_SESSION_CONFIGURATION_INIT; bh_ticket *ticket = UNTOUCHED;
     configuration.identifier = "s";
     bh_status status = bh_session_create_start(self, &configuration, BH_ROLE_OBSERVE, &ticket, error);
     CHECK(status == BH_OK || ticket == UNTOUCHED); return status;)
CALL(bh_session_update, SESSION, bh_session, bh_session_configuration configuration = BH_SESSION_CONFIGURATION_INIT;
     return bh_session_update(self, &configuration, 5000, error);)
CALL(bh_session_update_start, SESSION, bh_session,
     bh_session_configuration configuration = BH_SESSION_CONFIGURATION_INIT; bh_ticket *ticket = UNTOUCHED;
     bh_status status = bh_session_update_start(self, &configuration, &ticket, error);
     CHECK(status == BH_OK || ticket == UNTOUCHED); return status;)
CALL(bh_session_enqueue, SESSION, bh_session, bh_request request = idle_request();
     bh_enqueued result = {7, 7, 7}; size_t applied = 7;
     bh_status status = bh_session_enqueue(self, &request, 1, sizeof request, 5000, &result, &applied, error);
     CHECK(status == BH_OK || (applied == 0 && result.task_id == 0 && result.disposition == BH_ENQUEUE_NOT_APPLIED &&
                               result.status == status));
     return status;)
CALL(bh_session_enqueue_start, SESSION, bh_session, bh_request request = idle_request(); bh_ticket *ticket = UNTOUCHED;
     bh_status status = bh_session_enqueue_start(self, &request, 1, sizeof request, &ticket, error);
     CHECK(status == BH_OK || ticket == UNTOUCHED); return status;)
CALL(bh_ticket_session, TICKET, bh_ticket, bh_session *session = UNTOUCHED; int32_t disposition = -7;
     bh_status status = bh_ticket_session(self, &session, &disposition, error);
     CHECK(status == BH_OK || (session == UNTOUCHED && disposition == -7)); return status;)
CALL(bh_ticket_count, TICKET, bh_ticket, uint64_t count = 7; bh_status status = bh_ticket_count(self, &count, error);
     CHECK(status == BH_OK || count == 7); return status;)
CALL(bh_ticket_enqueued, TICKET, bh_ticket, bh_enqueued result = {7, 7, 7}; size_t applied = 7;
     return bh_ticket_enqueued(self, &result, 1, &applied, error);)

/* Functions without a status: what they answer for a handle that is none. */
CALL(bh_batch_count, BATCH, bh_batch, (void)error; CHECK(bh_batch_count(self) == 0); return BH_INVALID_HANDLE;)
CALL(bh_batch_more, BATCH, bh_batch, (void)error; CHECK(bh_batch_more(self) == 0); return BH_INVALID_HANDLE;)
CALL(bh_batch_event_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_event_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_task_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_task_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_session_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_session_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_configuration_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_configuration_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_challenge_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_challenge_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_existing_task_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_existing_task_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_progress_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_progress_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_launch_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_launch_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_launch_info_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_launch_info_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_engine_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_engine_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_attempt_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_attempt_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_limits_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_limits_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_application_close, APPLICATION, bh_application, (void)error; bh_application_close(self);
     return BH_INVALID_HANDLE;)
CALL(bh_session_close, SESSION, bh_session, (void)error; bh_session_close(self); return BH_INVALID_HANDLE;)
CALL(bh_ticket_release, TICKET, bh_ticket, (void)error; bh_ticket_release(self); return BH_INVALID_HANDLE;)
CALL(bh_batch_release, BATCH, bh_batch, (void)error; bh_batch_release(self); return BH_INVALID_HANDLE;)

#define ENTRY(function, kind) {#function, kind, call_##function}
static const struct call calls[] = {
    CONDITION_CALLS,
    ENTRY(bh_application_event_fd, APPLICATION),
    ENTRY(bh_application_poll, APPLICATION),
    ENTRY(bh_application_sessions, APPLICATION),
    ENTRY(bh_application_sessions_start, APPLICATION),
    ENTRY(bh_application_next_ticket, APPLICATION),
    ENTRY(bh_session_create, APPLICATION),
    ENTRY(bh_session_create_start, APPLICATION),
    ENTRY(bh_session_attach, APPLICATION),
    ENTRY(bh_session_attach_start, APPLICATION),
    ENTRY(bh_application_engine, APPLICATION),
    ENTRY(bh_application_engine_start, APPLICATION),
    ENTRY(bh_application_launches, APPLICATION),
    ENTRY(bh_application_launches_start, APPLICATION),
    ENTRY(bh_application_set_launch, APPLICATION),
    ENTRY(bh_application_set_launch_start, APPLICATION),
    ENTRY(bh_application_get_limits, APPLICATION),
    ENTRY(bh_application_get_limits_start, APPLICATION),
    ENTRY(bh_application_set_limits, APPLICATION),
    ENTRY(bh_application_set_limits_start, APPLICATION),
    ENTRY(bh_launch_current, APPLICATION),
    ENTRY(bh_launch_current_start, APPLICATION),
    ENTRY(bh_session_challenges, SESSION),
    ENTRY(bh_session_challenges_start, SESSION),
    ENTRY(bh_session_respond, SESSION),
    ENTRY(bh_session_respond_start, SESSION),
    ENTRY(bh_session_watch_progress, SESSION),
    ENTRY(bh_session_watch_progress_start, SESSION),
    ENTRY(bh_session_poll_progress, SESSION),
    ENTRY(bh_session_progress_fd, SESSION),
    ENTRY(bh_session_event_fd, SESSION),
    ENTRY(bh_session_get_configuration, SESSION),
    ENTRY(bh_session_get_configuration_start, SESSION),
    ENTRY(bh_session_update, SESSION),
    ENTRY(bh_session_update_start, SESSION),
    ENTRY(bh_session_complete, SESSION),
    ENTRY(bh_session_complete_start, SESSION),
    ENTRY(bh_session_enqueue, SESSION),
    ENTRY(bh_session_enqueue_start, SESSION),
    ENTRY(bh_session_poll, SESSION),
    ENTRY(bh_session_poll_start, SESSION),
    ENTRY(bh_session_acknowledge, SESSION),
    ENTRY(bh_session_acknowledge_start, SESSION),
    ENTRY(bh_session_acknowledge_through, SESSION),
    ENTRY(bh_session_acknowledge_through_start, SESSION),
    ENTRY(bh_session_tasks, SESSION),
    ENTRY(bh_session_tasks_start, SESSION),
    ENTRY(bh_task_info, SESSION),
    ENTRY(bh_task_info_start, SESSION),
    ENTRY(bh_tasks_suspend, SESSION),
    ENTRY(bh_tasks_suspend_start, SESSION),
    ENTRY(bh_tasks_resume, SESSION),
    ENTRY(bh_tasks_resume_start, SESSION),
    ENTRY(bh_tasks_set_priority, SESSION),
    ENTRY(bh_tasks_set_priority_start, SESSION),
    ENTRY(bh_tasks_set_rate, SESSION),
    ENTRY(bh_tasks_set_rate_start, SESSION),
    ENTRY(bh_tasks_set_constraints, SESSION),
    ENTRY(bh_tasks_set_constraints_start, SESSION),
    ENTRY(bh_tasks_reschedule, SESSION),
    ENTRY(bh_tasks_reschedule_start, SESSION),
    ENTRY(bh_task_attempts, SESSION),
    ENTRY(bh_task_attempts_start, SESSION),
    ENTRY(bh_session_history, SESSION),
    ENTRY(bh_session_history_start, SESSION),
    ENTRY(bh_tasks_cancel, SESSION),
    ENTRY(bh_tasks_cancel_start, SESSION),
    ENTRY(bh_task_claim, SESSION),
    ENTRY(bh_task_claim_start, SESSION),
    ENTRY(bh_session_invalidate, SESSION),
    ENTRY(bh_session_invalidate_start, SESSION),
    ENTRY(bh_ticket_wait, TICKET),
    ENTRY(bh_ticket_session, TICKET),
    ENTRY(bh_ticket_batch, TICKET),
    ENTRY(bh_ticket_count, TICKET),
    ENTRY(bh_ticket_enqueued, TICKET),
    ENTRY(bh_batch_count, BATCH),
    ENTRY(bh_batch_more, BATCH),
    ENTRY(bh_batch_event_at, BATCH),
    ENTRY(bh_batch_task_at, BATCH),
    ENTRY(bh_batch_session_at, BATCH),
    ENTRY(bh_batch_configuration_at, BATCH),
    ENTRY(bh_batch_challenge_at, BATCH),
    ENTRY(bh_batch_existing_task_at, BATCH), ENTRY(bh_batch_progress_at, BATCH),
    ENTRY(bh_batch_launch_at, BATCH),
    ENTRY(bh_batch_launch_info_at, BATCH),
    ENTRY(bh_batch_engine_at, BATCH),
    ENTRY(bh_batch_attempt_at, BATCH),
    ENTRY(bh_batch_limits_at, BATCH),
    ENTRY(bh_application_close, APPLICATION),
    ENTRY(bh_session_close, SESSION),
    ENTRY(bh_ticket_release, TICKET),
    ENTRY(bh_batch_release, BATCH),
};
enum { CALL_COUNT = sizeof calls / sizeof calls[0] };

/* Makes the calls of some kinds (bits 1 << kind) with one handle; each must answer `status` and fill the error. */
static inline void expect_all(unsigned kinds, void *handle, bh_status status) {
    for (size_t i = 0; i < CALL_COUNT; i++) {
        bh_error error = BH_ERROR_INIT;
        if (!(kinds & 1u << calls[i].kind)) continue;
        bh_status got = calls[i].make(handle, &error);
        /* What has no status to give says the same of all that is not an open handle. */
        int is_void = strstr(calls[i].name, "_close") || strstr(calls[i].name, "_release");
        bh_status wanted = calls[i].kind == BATCH || is_void ? BH_INVALID_HANDLE : status;
        if (got != wanted)
            FAIL("%s: %s instead of %s", calls[i].name, bh_status_name(got), bh_status_name(wanted));
        if (got == status && wanted == status && error.status != 0) {
            CHECK(error.status == status);
            CHECK(error.index == BH_NO_INDEX && error.ticket == NULL && error.domain == BH_DOMAIN_NONE);
            CHECK(strlen(error.message) > 10);
        }
    }
}

enum { ALL_KINDS = 1u << APPLICATION | 1u << SESSION | 1u << TICKET | 1u << BATCH };

#endif
