/* A session that was invalidated is removed when its tasks have ended and its events are acknowledged. Then all handles
 * of the session have ended. */
#include "engine_process.h"

#include <poll.h>

static bh_error error = BH_INIT(bh_error);

static bh_session *attach(bh_role role) {
    bh_session *handle = NULL;
    CHECK_STATUS(BH_OK, bh_session_attach(application, "gallery", role, 20000, &handle, &error));
    return handle;
}

static void invalidate(bh_session *handle) {
    CHECK_STATUS(BH_OK, bh_session_invalidate(handle, BH_INVALIDATE_CANCEL, 20000, &error));
}

static void becomes_readable(int descriptor) {
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    CHECK(poll(&watched, 1, 60000) == 1);
}

static void no_call_with_a_handle_of_a_removed_session_succeeds(void) {
    bh_batch *batch = NULL;
    bh_request request = idle_request();
    invalidate(session);
    CHECK_STATUS(BH_INVALIDATED, bh_session_poll(session, 0, 1, 20000, &batch, &error));
    CHECK(strstr(error.message, "invalidated") != NULL);
    CHECK_STATUS(BH_INVALIDATED, bh_session_tasks(session, NULL, 0, 1, 20000, &batch, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_history(session, 0, 1, 20000, &batch, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_challenges(session, 20000, &batch, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_get_configuration(session, 20000, &batch, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_enqueue(session, &request, 1, 20000, NULL, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_watch_progress(session, 100, 20000, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_poll_progress(session, 0, &batch, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_invalidate(session, BH_INVALIDATE_FINISH, 20000, &error));
}

static void a_poll_that_waits_ends_when_another_handle_invalidates_the_session(void) {
    bh_session *producer = attach(BH_ROLE_PRODUCE);
    bh_batch *batch = NULL;
    CHECK_STATUS(BH_STARTED, bh_session_invalidate(producer, BH_INVALIDATE_FINISH, BH_START, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_poll(session, 0, 1, 60000, &batch, &error));
}

static void the_descriptors_of_all_handles_become_readable(void) {
    bh_session *observer = attach(BH_ROLE_OBSERVE);
    bh_batch *batch = NULL;
    int events = -1, observed = -1, progress = -1;
    CHECK_STATUS(BH_OK, bh_session_event_fd(session, &events, &error));
    CHECK_STATUS(BH_OK, bh_session_event_fd(observer, &observed, &error));
    CHECK_STATUS(BH_OK, bh_session_progress_fd(observer, &progress, &error));
    invalidate(session);
    becomes_readable(events);
    becomes_readable(observed);
    becomes_readable(progress);
    CHECK_STATUS(BH_INVALIDATED, bh_session_poll_progress(observer, 0, &batch, &error));
}

static void a_session_with_an_unacknowledged_event_works_until_the_acknowledgement(void) {
    bh_request request = idle_request();
    bh_batch *batch = NULL;
    enqueue_one(session, &request);
    invalidate(session);
    CHECK_STATUS(BH_OK, bh_session_poll(session, 0, 10, 20000, &batch, &error));
    uint64_t last = bh_batch_event_at(batch, bh_batch_count(batch) - 1)->id;
    CHECK_STATUS(BH_OK, bh_session_acknowledge_through(session, last, 20000, NULL, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_poll(session, 0, 10, 0, &batch, &error));
    /* The host has processed all events, so this call succeeds. */
    CHECK_STATUS(BH_OK, bh_session_complete(session, 20000, &error));
}

static void a_new_session_with_the_identifier_of_a_removed_one_has_its_own_handles(void) {
    bh_batch *batch = NULL;
    bh_session *attached = NULL;
    invalidate(session);
    CHECK_STATUS(BH_NOT_FOUND, bh_session_attach(application, "gallery", BH_ROLE_CONSUME, 20000, &attached, &error));
    bh_session *second = create_session(application, "gallery", BH_ROLE_CONSUME);
    CHECK_STATUS(BH_OK, bh_session_poll(second, 0, 1, 0, &batch, &error));
    CHECK_STATUS(BH_INVALIDATED, bh_session_poll(session, 0, 1, 0, &batch, &error));
    bh_session_close(session);
    CHECK_STATUS(BH_OK, bh_session_poll(second, 0, 1, 0, &batch, &error));
}

static void the_handles_also_end_if_the_engine_is_another_process(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_batch *batch = NULL;
    int descriptor = -1;
    CHECK_STATUS(BH_OK, bh_session_event_fd(session, &descriptor, &error));
    invalidate(session);
    becomes_readable(descriptor);
    CHECK_STATUS(BH_INVALIDATED, bh_session_tasks(session, NULL, 0, 1, 20000, &batch, &error));
    bh_application_close(application);
    end(engine);
}

static void a_removed_session_can_be_completed_with_the_next_engine(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_batch *batch = NULL;
    invalidate(session);
    CHECK_STATUS(BH_INVALIDATED, bh_session_poll(session, 0, 1, 60000, &batch, &error));
    end(engine);
    CHECK_STATUS(BH_OK, bh_session_complete(session, 20000, &error));
    bh_application_close(application);
}

MAIN(CONSUMER_TEST(no_call_with_a_handle_of_a_removed_session_succeeds),
     CONSUMER_TEST(a_poll_that_waits_ends_when_another_handle_invalidates_the_session),
     CONSUMER_TEST(the_descriptors_of_all_handles_become_readable),
     CONSUMER_TEST(a_session_with_an_unacknowledged_event_works_until_the_acknowledgement),
     CONSUMER_TEST(a_new_session_with_the_identifier_of_a_removed_one_has_its_own_handles),
     TEST(the_handles_also_end_if_the_engine_is_another_process),
     TEST(a_removed_session_can_be_completed_with_the_next_engine))
