/* After a process has opened an application, its forked children must not use the library. Before that, they may. */
#include "calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `body` in a child, and checks that the child exits with 0. An alarm ends a child that hangs. */
static void expect_child(void (*body)(void *), void *argument) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(30);
        body(argument);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) FAIL("the child ended with %#x", status);
}

struct handles {
    bh_application *application;
    bh_session *session;
    bh_ticket *ticket;
    bh_batch *batch;
};

static struct handles open_all(void) {
    struct handles all = {open_application(), NULL, NULL, NULL};
    all.session = create_session(all.application, "gallery", BH_ROLE_CONSUME);
    bh_error error = BH_INIT(bh_error);
    all.ticket = ticket_of(bh_session_tasks(all.session, NULL, 0, 1, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_OK, bh_session_get_configuration(all.session, 20000, &all.batch, NULL));
    return all;
}

static bh_status reopen(bh_error *error) {
    bh_application_options options = BH_INIT(bh_application_options);
    bh_application *application = UNTOUCHED;
    options.identifier = "org.example.tests";
    options.store = store;
    bh_status status = bh_application_open(&options, 20000, &application, error);
    CHECK(application == UNTOUCHED);
    return status;
}

static void expect_forked(void *argument) {
    struct handles *all = argument;
    bh_error error = BH_INIT(bh_error);
    CHECK_STATUS(BH_FORKED, reopen(&error));
    CHECK(error.status == BH_FORKED && strstr(error.message, "forked") != NULL);
    CHECK_STATUS(BH_FORKED, reopen(NULL));
    /* An error that was not initialised is not written. */
    error = (bh_error){0};
    CHECK_STATUS(BH_FORKED, reopen(&error));
    CHECK(error.status == BH_OK);
    expect_all(1u << APPLICATION, all->application, BH_FORKED);
    expect_all(1u << SESSION, all->session, BH_FORKED);
    expect_all(1u << TICKET, all->ticket, BH_FORKED);
    expect_all(1u << BATCH, all->batch, BH_FORKED);
    /* The calls above include the close and release functions. A second close is harmless, too. */
    bh_ticket_release(all->ticket);
    bh_batch_release(all->batch);
    bh_session_close(all->session);
    bh_application_close(all->application);
    /* The functions do not read their handles. */
    expect_all(ALL_KINDS, NULL, BH_FORKED);
    expect_all(ALL_KINDS, (void *)(uintptr_t)0x1000, BH_FORKED);
    /* These functions need no application. */
    CHECK(bh_version() == BH_VERSION);
    CHECK(strcmp(bh_status_name(BH_FORKED), "BH_FORKED") == 0);
}

static void expect_whole(struct handles *all) {
    CHECK_STATUS(BH_OK, bh_ticket_wait(all->ticket, 20000, NULL));
    CHECK(bh_batch_count(all->batch) == 1);
    CHECK_STATUS(BH_OK, bh_session_complete(all->session, 20000, NULL));
    bh_application_close(all->application);
}

static void each_function_is_refused_in_a_child_of_a_process_that_has_opened_an_application(void) {
    struct handles all = open_all();
    expect_child(expect_forked, &all);
    /* The parent's handles still work. */
    expect_whole(&all);
}

static void expect_forked_in_grandchild(void *argument) { expect_child(expect_forked, argument); }

static void each_function_is_refused_in_a_grandchild(void) {
    struct handles all = open_all();
    expect_child(expect_forked_in_grandchild, &all);
    expect_whole(&all);
}

static void a_child_is_refused_after_the_parent_has_closed_its_application(void) {
    struct handles all = open_all();
    expect_whole(&all);
    expect_child(expect_forked, &all);
}

static void use_library(void *argument) {
    (void)argument;
    struct handles own = open_all();
    expect_whole(&own);
}

static void children_of_a_process_that_has_only_loaded_the_library_may_use_it(void) {
    CHECK(bh_batch_count(NULL) == 0);
    CHECK_STATUS(BH_INVALID_HANDLE, bh_application_next_ticket(NULL, &(bh_ticket *){NULL}, NULL));
    CHECK(strlen(bh_abi_json()) > 100);
    expect_child(use_library, NULL);
    expect_child(use_library, NULL);
    use_library(NULL);
}

static void an_open_that_is_refused_does_not_count(void) {
    bh_error error = BH_INIT(bh_error);
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_application_open(NULL, 20000, &(bh_application *){NULL}, &error));
    expect_child(use_library, NULL);
}

static void children_may_fork_before_they_open_an_application(void *argument) {
    expect_child(use_library, argument);
    use_library(argument);
    expect_child(expect_forked, &(struct handles){NULL, NULL, NULL, NULL});
}

static void each_child_of_a_process_that_has_only_loaded_the_library_is_a_process_of_its_own(void) {
    expect_child(children_may_fork_before_they_open_an_application, NULL);
}

static atomic_bool stopping;

static void *make_and_drop_handles(void *argument) {
    struct handles *all = argument;
    while (!stopping) {
        bh_error error = BH_INIT(bh_error);
        bh_batch *batch = NULL;
        bh_ticket *ticket = ticket_of(bh_session_get_configuration(all->session, BH_START, NULL, &error), &error);
        CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, NULL));
        CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &batch, NULL));
        bh_ticket_release(ticket);
        CHECK(bh_batch_count(batch) == 1);
        bh_batch_release(batch);
    }
    return NULL;
}

static void *open_and_close(void *argument) {
    (void)argument;
    while (!stopping) {
        bh_application *application = open_application();
        bh_session_close(create_session(application, "gallery", BH_ROLE_OBSERVE));
        bh_application_close(application);
    }
    return NULL;
}

static void fork_while_busy(int rounds, void *(*busy)(void *)) {
    enum { THREADS = 3 };
    struct handles all = open_all();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, busy, &all) == 0);
    for (int i = 0; i < rounds; i++) expect_child(expect_forked, &all);
    stopping = true;
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    expect_whole(&all);
}

static void a_child_made_while_other_threads_use_the_library_does_not_hang(void) {
    fork_while_busy(200, make_and_drop_handles);
}

static void a_child_made_while_other_threads_open_and_close_applications_does_not_hang(void) {
    fork_while_busy(100, open_and_close);
}

MAIN(TEST(each_function_is_refused_in_a_child_of_a_process_that_has_opened_an_application),
     TEST(each_function_is_refused_in_a_grandchild),
     TEST(a_child_is_refused_after_the_parent_has_closed_its_application),
     TEST(children_of_a_process_that_has_only_loaded_the_library_may_use_it),
     TEST(an_open_that_is_refused_does_not_count),
     TEST(each_child_of_a_process_that_has_only_loaded_the_library_is_a_process_of_its_own),
     TEST(a_child_made_while_other_threads_use_the_library_does_not_hang),
     TEST(a_child_made_while_other_threads_open_and_close_applications_does_not_hang))
