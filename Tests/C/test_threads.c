/* Every function may be called from any thread at any time. A batch is a list that the library returns. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS = 6, ROUNDS = 200 };

static void run(void *(*body)(void *), void *argument) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, body, argument) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

static void *share_a_session(void *argument) {
    bh_session *session = argument;
    for (int i = 0; i < ROUNDS; i++) {
        bh_request request = idle_request();
        bh_batch *batch = NULL;
        uint64_t affected = 0;
        bh_enqueued result = enqueue_one(session, &request);
        CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &batch, NULL));
        CHECK(bh_batch_task_at(batch, 0)->id == result.task_id);
        bh_batch_release(batch);
        bh_task_selection selection = BH_INIT(bh_task_selection);
        selection.ids = &result.task_id;
        selection.id_count = 1;
        CHECK_STATUS(BH_OK, bh_tasks_set_priority(session, &selection, 5, 20000, &affected, NULL));
        CHECK(affected == 1);
    }
    return NULL;
}

static void one_session_serves_many_threads(void) { run(share_a_session, session); }

static void *read_a_batch(void *argument) {
    bh_batch *batch = argument;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(bh_batch_count(batch) == 100);
        for (size_t j = 0; j < 100; j++) CHECK(bh_batch_task_at(batch, j)->id != 0);
    }
    return NULL;
}

static void one_batch_is_read_by_many_threads(void) {
    bh_request requests[100];
    bh_batch *batch = NULL;
    for (int i = 0; i < 100; i++) requests[i] = idle_request();
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 100, 20000, NULL, NULL));
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 100, 20000, &batch, NULL));
    run(read_a_batch, batch);
    bh_batch_release(batch);
}

static _Atomic(bh_application *) current;
static _Atomic(bh_session *) attached;
static atomic_bool over;

static void *use_what_may_be_closed(void *argument) {
    (void)argument;
    while (!over) {
        bh_batch *batch = NULL;
        bh_session *session = NULL;
        bh_error error = BH_INIT(bh_error);
        bh_status status = bh_application_sessions(current, 20000, &batch, NULL);
        CHECK(status == BH_OK || status == BH_INVALID_HANDLE);
        bh_batch_release(batch);
        status = bh_session_attach(current, "gallery", BH_ROLE_OBSERVE, 20000, &session, NULL);
        CHECK(status == BH_OK || status == BH_INVALID_HANDLE);
        status = bh_session_tasks(attached, NULL, 0, 10, BH_START, NULL, &error);
        CHECK(status == BH_STARTED || status == BH_INVALID_HANDLE);
        if (status == BH_STARTED) {
            status = bh_ticket_wait(error.ticket, 20000, NULL);
            CHECK(status == BH_OK || status == BH_INVALID_HANDLE);
        }
        bh_ticket_release(error.ticket);
        bh_session_close(session);
    }
    return NULL;
}

/* If the application is closed while other threads call functions, the only effect is that these calls fail. */
static void closing_an_application_while_other_threads_use_it_only_makes_their_calls_fail(void) {
    pthread_t threads[THREADS];
    /* This application keeps the engine (the threads that run the tasks) running, so that the other applications open
     * and close quickly. */
    bh_application *keeper = open_application();
    bh_session_close(create_session(keeper, "gallery", BH_ROLE_OBSERVE));
    current = open_application();
    attached = create_session(current, "gallery", BH_ROLE_OBSERVE);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, use_what_may_be_closed, NULL) == 0);
    for (int i = 0; i < 50; i++) {
        bh_application *next = open_application();
        bh_session *session = create_session(next, "gallery", BH_ROLE_OBSERVE);
        bh_application *previous = atomic_exchange(&current, next);
        bh_session *before = atomic_exchange(&attached, session);
        if (i % 2) bh_session_close(before);
        bh_application_close(previous);
    }
    over = true;
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    bh_application_close(current);
    bh_application_close(keeper);
}

static void *wait_for_events(void *argument) {
    bh_batch *batch = NULL;
    bh_status status = bh_session_poll(argument, 0, 10, 60000, &batch, NULL);
    CHECK(status == BH_OK || status == BH_INVALID_HANDLE);
    bh_batch_release(batch);
    return NULL;
}

static void a_long_wait_ends_when_the_application_is_closed(void) {
    pthread_t thread;
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    CHECK(pthread_create(&thread, NULL, wait_for_events, session) == 0);
    /* During this call, the other thread most likely begins to wait for events (its long poll). If the long poll begins
     * later, it must also end. */
    CHECK_STATUS(BH_OK, bh_session_complete(session, 20000, NULL));
    bh_application_close(application);
    CHECK(pthread_join(thread, NULL) == 0);
}

MAIN(PRODUCER_TEST(one_session_serves_many_threads), PRODUCER_TEST(one_batch_is_read_by_many_threads),
     TEST(closing_an_application_while_other_threads_use_it_only_makes_their_calls_fail),
     TEST(a_long_wait_ends_when_the_application_is_closed))
