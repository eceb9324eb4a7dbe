/* Verbs that were started, and verbs whose wait ended before they did. */
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bh_error error = BH_ERROR_INIT;

static int is_readable(int descriptor, int timeout_ms) {
    struct pollfd entry = {descriptor, POLLIN, 0};
    return poll(&entry, 1, timeout_ms) == 1;
}

static void answered_tickets_are_told_through_the_descriptor(void) {
    enum { COUNT = 50 };
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *started[COUNT], *ticket = NULL;
    int descriptor = -1, told = 0;
    CHECK_STATUS(BH_OK, bh_application_event_fd(application, &descriptor, &error));
    CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &ticket, &error));
    CHECK(ticket == NULL);
    for (int i = 0; i < COUNT; i++)
        CHECK_STATUS(BH_OK, bh_session_tasks_start(session, NULL, 0, 1, &started[i], &error));
    while (told < COUNT) {
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
        told++;
    }
    CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &ticket, &error));
    CHECK(ticket == NULL);
    CHECK(!is_readable(descriptor, 0));
    bh_application_close(application);
}

static void a_released_ticket_is_never_told(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *ticket = NULL, *next = NULL;
    int descriptor = -1;
    CHECK_STATUS(BH_OK, bh_application_event_fd(application, &descriptor, &error));
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(BH_OK, bh_session_complete_start(session, &ticket, &error));
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
        bh_ticket_release(ticket);
    }
    CHECK(!is_readable(descriptor, 0));
    CHECK_STATUS(BH_OK, bh_application_next_ticket(application, &next, &error));
    CHECK(next == NULL);
    bh_application_close(application);
}

static void a_session_is_taken_from_its_ticket_once(void) {
    bh_application *application = open_application();
    bh_session_configuration configuration = BH_SESSION_CONFIGURATION_INIT;
    bh_session *session = NULL, *again = NULL;
    bh_ticket *ticket = NULL;
    bh_batch *batch = NULL;
    uint64_t count = 0;
    int32_t disposition = 0;
    configuration.identifier = "gallery";
    CHECK_STATUS(BH_OK, bh_session_create_start(application, &configuration, BH_ROLE_CONSUME, &ticket, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_batch(ticket, &batch, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_count(ticket, &count, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_enqueued(ticket, NULL, 0, NULL, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 0, &error));
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_ticket_session(ticket, NULL, NULL, &error));
    CHECK_STATUS(BH_OK, bh_ticket_session(ticket, &session, &disposition, &error));
    CHECK(disposition == BH_SESSION_CREATED);
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_session(ticket, &again, NULL, &error));
    CHECK(again == NULL);
    bh_ticket_release(ticket);
    /* The session outlives its ticket. */
    CHECK_STATUS(BH_OK, bh_session_complete(session, 20000, &error));
    bh_application_close(application);
}

static void a_session_that_nobody_took_is_closed_with_its_ticket(void) {
    bh_application *application = open_application();
    bh_session_configuration configuration = BH_SESSION_CONFIGURATION_INIT;
    bh_ticket *ticket = NULL;
    configuration.identifier = "gallery";
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(BH_OK, bh_session_create_start(application, &configuration, BH_ROLE_CONSUME, &ticket, &error));
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
        bh_ticket_release(ticket);
    }
    /* One consumer at a time: this one would be refused. */
    bh_session_close(create_session(application, "gallery", BH_ROLE_CONSUME));
    /* Released before its answer, it is closed when that has come. */
    CHECK_STATUS(BH_OK, bh_session_create_start(application, &configuration, BH_ROLE_CONSUME, &ticket, &error));
    bh_ticket_release(ticket);
    bh_session *session = NULL;
    bh_status status = BH_IN_USE;
    for (int i = 0; i < 100 && status == BH_IN_USE; i++)
        status = bh_session_attach(application, "gallery", BH_ROLE_CONSUME, 20000, &session, &error);
    CHECK(status == BH_OK);
    bh_application_close(application);
}

static void a_batch_is_taken_from_its_ticket_once(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *ticket = NULL;
    bh_batch *batch = NULL, *again = NULL;
    CHECK_STATUS(BH_OK, bh_session_get_configuration_start(session, &ticket, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &batch, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_batch(ticket, &again, &error));
    CHECK(again == NULL);
    bh_ticket_release(ticket);
    CHECK(strcmp(bh_batch_configuration_at(batch, 0)->identifier, "gallery") == 0);
    bh_batch_release(batch);
    bh_application_close(application);
}

static void a_verb_that_failed_says_so_from_each_of_its_tickets_functions(void) {
    bh_application *application = open_application();
    bh_ticket *ticket = NULL;
    bh_session *session = NULL;
    CHECK_STATUS(BH_OK, bh_session_attach_start(application, "nowhere", BH_ROLE_CONSUME, &ticket, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_wait(ticket, 20000, &error));
    CHECK(error.status == BH_NOT_FOUND && strlen(error.message) > 10);
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_session(ticket, &session, NULL, &error));
    CHECK(session == NULL);
    bh_ticket_release(ticket);
    bh_session *other = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_batch *batch = NULL;
    CHECK_STATUS(BH_OK, bh_task_info_start(other, 12345, &ticket, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_ticket_batch(ticket, &batch, &error));
    CHECK(batch == NULL);
    bh_application_close(application);
}

static void the_results_of_an_enqueue_fit_the_room_that_the_host_has(void) {
    enum { COUNT = 5 };
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request requests[COUNT];
    bh_enqueued results[COUNT + 1];
    bh_ticket *ticket = NULL;
    size_t applied = 99;
    for (int i = 0; i < COUNT; i++) requests[i] = idle_request();
    CHECK_STATUS(BH_OK, bh_session_enqueue_start(session, requests, COUNT, sizeof requests[0], &ticket, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    memset(results, 0x55, sizeof results);
    CHECK_STATUS(BH_OK, bh_ticket_enqueued(ticket, results, 2, &applied, &error));
    CHECK(applied == COUNT && results[1].task_id != 0 && results[2].task_id == 0x5555555555555555u);
    CHECK_STATUS(BH_OK, bh_ticket_enqueued(ticket, results, COUNT + 1, NULL, &error));
    for (int i = 0; i < COUNT; i++) CHECK(results[i].disposition == BH_ENQUEUE_NEW && results[i].status == BH_OK);
    CHECK(results[COUNT].task_id == 0x5555555555555555u);
    CHECK_STATUS(BH_OK, bh_ticket_enqueued(ticket, NULL, SIZE_MAX, &applied, &error));
    CHECK_STATUS(BH_OK, bh_ticket_enqueued(ticket, NULL, 0, NULL, NULL));
    bh_ticket_release(ticket);
    bh_application_close(application);
}

/* How the task of the request's key stands, asked for by handing the request over again. */
static bh_existing_task found_again(bh_session *session, const bh_request *request) {
    bh_ticket *ticket = NULL;
    bh_batch *batch = NULL;
    CHECK_STATUS(BH_OK, bh_session_enqueue_start(session, request, 1, sizeof *request, &ticket, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &batch, &error));
    CHECK_STATUS(BH_WRONG_STATE, bh_ticket_batch(ticket, &batch, &error));
    bh_ticket_release(ticket);
    bh_existing_task found = {0};
    const bh_existing_task *item = bh_batch_existing_task_at(batch, 0);
    CHECK(bh_batch_count(batch) <= 1 && (item != NULL) == (bh_batch_count(batch) == 1));
    if (item) found = *item;
    bh_batch_release(batch);
    return found;
}

static void a_ticket_of_an_enqueue_tells_a_living_task_from_one_that_has_ended(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = idle_request();
    bh_batch *batch = NULL;
    request.idempotency_key = "once";
    CHECK(found_again(session, &request).struct_size == 0);
    bh_existing_task found = found_again(session, &request);
    CHECK(found.struct_size == sizeof found && found.request == 0 && found.task_id != 0);
    CHECK(found.state == BH_TASK_SUSPENDED && found.event_id == 0);
    CHECK_STATUS(BH_OK, bh_tasks_cancel(session, NULL, 20000, NULL, &error));
    CHECK_STATUS(BH_OK, bh_session_poll(session, 0, 1, 20000, &batch, &error));
    uint64_t end = bh_batch_event_at(batch, 0)->id;
    bh_batch_release(batch);
    found = found_again(session, &request);
    CHECK(found.state == BH_TASK_CANCELLED && found.event_id == end);
    CHECK_STATUS(BH_OK, bh_session_acknowledge(session, &end, 1, 20000, NULL, &error));
    CHECK(found_again(session, &request).struct_size == 0);
    bh_application_close(application);
}

static void only_the_requests_whose_keys_found_a_task_are_told_with_their_numbers(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request requests[3] = {idle_request(), idle_request(), idle_request()};
    bh_enqueued results[3];
    bh_ticket *ticket = NULL;
    bh_batch *batch = NULL;
    requests[1].idempotency_key = "once";
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(BH_OK, bh_session_enqueue_start(session, requests, 3, sizeof requests[0], &ticket, &error));
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
        CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &batch, &error));
        CHECK_STATUS(BH_OK, bh_ticket_enqueued(ticket, results, 3, NULL, &error));
        CHECK(bh_batch_count(batch) == (size_t)i);
        if (i == 1) {
            CHECK(bh_batch_existing_task_at(batch, 0)->request == 1);
            CHECK(bh_batch_existing_task_at(batch, 0)->task_id == results[1].task_id);
        }
        bh_batch_release(batch);
        bh_ticket_release(ticket);
    }
    bh_application_close(application);
}

static void started_controls_count(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = idle_request();
    bh_ticket *ticket = NULL;
    uint64_t count = 99;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, sizeof request, 20000, NULL, NULL, &error));
    CHECK_STATUS(BH_OK, bh_tasks_cancel_start(session, NULL, &ticket, &error));
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_ticket_count(ticket, NULL, &error));
    CHECK_STATUS(BH_OK, bh_ticket_count(ticket, &count, &error));
    CHECK(count == 1);
    bh_ticket_release(ticket);
    bh_application_close(application);
}

/* An engine in another process, which can be stopped: verbs are not answered until it goes on. */
static pid_t start_engine(void) {
    int ready[2];
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t engine = fork();
    if (engine == 0) {
        /* Also when the test fails. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bh_application *application = open_application();
        create_session(application, "gallery", BH_ROLE_OBSERVE);
        CHECK(write(ready[1], "r", 1) == 1);
        for (;;) pause();
    }
    CHECK(engine > 0);
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return engine;
}

static void stop(pid_t engine) {
    int status;
    CHECK(kill(engine, SIGSTOP) == 0);
    CHECK(waitpid(engine, &status, WUNTRACED) == engine && WIFSTOPPED(status));
}

static void end(pid_t engine) {
    kill(engine, SIGKILL);
    CHECK(waitpid(engine, NULL, 0) == engine);
}

static void a_verb_that_is_not_answered_in_time_leaves_its_ticket(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = idle_request();
    bh_enqueued result;
    size_t applied = 99;
    stop(engine);
    bh_status status = bh_session_enqueue(session, &request, 1, sizeof request, 100, &result, &applied, &error);
    CHECK(status == BH_ENGINE_UNRESPONSIVE || status == BH_TIMEOUT);
    CHECK(error.status == status && error.ticket != NULL);
    CHECK(error.domain == BH_DOMAIN_PROCESS && error.detail == engine);
    CHECK(applied == 0 && result.disposition == BH_ENQUEUE_NOT_APPLIED && result.status == BH_TIMEOUT);
    bh_ticket *ticket = error.ticket;
    CHECK_STATUS(status, bh_ticket_wait(ticket, 50, &error));
    CHECK(error.ticket == NULL);
    CHECK_STATUS(status, bh_ticket_enqueued(ticket, &result, 1, &applied, &error));
    /* Without an error struct there is nowhere to put a ticket; nothing is lost but the answer. */
    CHECK(bh_session_complete(session, 50, NULL) == status);
    kill(engine, SIGCONT);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_enqueued(ticket, &result, 1, &applied, &error));
    CHECK(applied == 1 && result.disposition == BH_ENQUEUE_NEW);
    bh_ticket_release(ticket);
    bh_application_close(application);
    end(engine);
}

static void an_engine_that_is_stopped_before_it_answers_at_all_is_named_with_a_ticket_and_without(void) {
    pid_t engine = start_engine();
    bh_application_options options = BH_APPLICATION_OPTIONS_INIT;
    bh_application *application = NULL;
    bh_batch *batch = NULL;
    options.identifier = "org.example.tests";
    options.store = store;
    options.hosting = BH_HOSTING_EMBEDDED;
    stop(engine);
    CHECK_STATUS(BH_ENGINE_UNRESPONSIVE, bh_application_open(&options, 1000, &application, &error));
    CHECK(application == NULL && error.ticket == NULL && strstr(error.message, "ticket") == NULL);
    CHECK(error.domain == BH_DOMAIN_PROCESS && error.detail == engine);
    CHECK_STATUS(BH_OK, bh_application_open(&options, 0, &application, &error));
    CHECK_STATUS(BH_ENGINE_UNRESPONSIVE, bh_application_sessions(application, 1000, &batch, &error));
    CHECK(error.ticket != NULL && error.domain == BH_DOMAIN_PROCESS && error.detail == engine);
    bh_ticket *ticket = error.ticket;
    kill(engine, SIGCONT);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    bh_ticket_release(ticket);
    bh_application_close(application);
    end(engine);
}

static void a_verb_outlives_the_engine_that_did_not_answer_it(void) {
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *ticket = NULL;
    bh_request request = idle_request();
    bh_enqueued result;
    stop(engine);
    CHECK_STATUS(BH_OK, bh_session_enqueue_start(session, &request, 1, sizeof request, &ticket, &error));
    end(engine);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK_STATUS(BH_OK, bh_ticket_enqueued(ticket, &result, 1, NULL, &error));
    CHECK(result.disposition == BH_ENQUEUE_NEW);
    bh_application_close(application);
}

static void closing_does_not_wait_for_an_engine_that_is_stopped(void) {
    enum { COUNT = 20000 };
    pid_t engine = start_engine();
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request *requests = malloc(COUNT * sizeof *requests);
    bh_ticket *ticket = NULL;
    struct timespec before, after;
    for (int i = 0; i < COUNT; i++) requests[i] = idle_request();
    stop(engine);
    /* More than a socket holds. */
    CHECK_STATUS(BH_OK, bh_session_enqueue_start(session, requests, COUNT, sizeof *requests, &ticket, &error));
    CHECK(bh_ticket_wait(ticket, 200, NULL) != BH_OK);
    clock_gettime(CLOCK_MONOTONIC, &before);
    bh_application_close(application);
    clock_gettime(CLOCK_MONOTONIC, &after);
    /* "About a second", with much room for a machine that has other work. */
    CHECK(after.tv_sec - before.tv_sec < 10);
    free(requests);
    end(engine);
}

MAIN(TEST(answered_tickets_are_told_through_the_descriptor), TEST(a_released_ticket_is_never_told),
     TEST(a_session_is_taken_from_its_ticket_once), TEST(a_session_that_nobody_took_is_closed_with_its_ticket),
     TEST(a_batch_is_taken_from_its_ticket_once),
     TEST(a_verb_that_failed_says_so_from_each_of_its_tickets_functions),
     TEST(the_results_of_an_enqueue_fit_the_room_that_the_host_has), TEST(started_controls_count),
     TEST(a_ticket_of_an_enqueue_tells_a_living_task_from_one_that_has_ended),
     TEST(only_the_requests_whose_keys_found_a_task_are_told_with_their_numbers),
     TEST(a_verb_that_is_not_answered_in_time_leaves_its_ticket),
     TEST(an_engine_that_is_stopped_before_it_answers_at_all_is_named_with_a_ticket_and_without),
     TEST(a_verb_outlives_the_engine_that_did_not_answer_it),
     TEST(closing_does_not_wait_for_an_engine_that_is_stopped))
