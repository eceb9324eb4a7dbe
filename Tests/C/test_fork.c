/* Handles belong to the process that created them. A handle is a pointer, such as a bh_session *, that stands for an
 * object of the library. A child of fork has copies of its parent's handles, and the library refuses these copies. The
 * application is the object through which a program uses the library. */
#include "calls.h"

#include <pthread.h>
#include <sched.h>
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
    CHECK_STATUS(BH_OK, bh_session_get_configuration(all.session, 5000, &all.batch, NULL));
    return all;
}

static void expect_forked(void *argument) {
    struct handles *all = argument;
    expect_all(1u << APPLICATION, all->application, BH_FORKED);
    expect_all(1u << SESSION, all->session, BH_FORKED);
    expect_all(1u << TICKET, all->ticket, BH_FORKED);
    expect_all(1u << BATCH, all->batch, BH_FORKED);
    /* The calls above have closed all handles. A second close of a handle is harmless. */
    bh_ticket_release(all->ticket);
    bh_batch_release(all->batch);
    bh_session_close(all->session);
    bh_application_close(all->application);
    expect_all(1u << SESSION, all->session, BH_FORKED);
    /* A value that was never a handle is refused with BH_INVALID_HANDLE. BH_FORKED is for handles of the parent. */
    expect_all(ALL_KINDS, NULL, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS, (void *)(uintptr_t)0x1000, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS, (void *)(uintptr_t)0x4FFFFFFFFFF0, BH_INVALID_HANDLE);
}

static void expect_whole(struct handles *all) {
    CHECK_STATUS(BH_OK, bh_ticket_wait(all->ticket, 5000, NULL));
    CHECK(bh_batch_count(all->batch) == 1);
    CHECK_STATUS(BH_OK, bh_session_complete(all->session, 5000, NULL));
    bh_application_close(all->application);
}

static void handles_of_the_parent_are_refused_in_a_child(void) {
    struct handles all = open_all();
    expect_child(expect_forked, &all);
    /* The parent's handles still work. */
    expect_whole(&all);
}

static void expect_forked_in_grandchild(void *argument) { expect_child(expect_forked, argument); }

static void handles_of_the_parent_are_refused_in_a_grandchild(void) {
    struct handles all = open_all();
    expect_child(expect_forked_in_grandchild, &all);
    expect_whole(&all);
}

static void use_anew(void *argument) {
    struct handles *inherited = argument;
    struct handles own = {open_application(), NULL, NULL, NULL};
    own.session = create_session(own.application, "archive", BH_ROLE_CONSUME);
    CHECK((void *)own.application != (void *)inherited->application);
    CHECK((void *)own.session != (void *)inherited->session);
    CHECK_STATUS(BH_OK, bh_session_complete(own.session, 20000, NULL));
    CHECK_STATUS(inherited->session ? BH_FORKED : BH_INVALID_HANDLE,
                 bh_session_complete(inherited->session, 5000, NULL));
    CHECK_STATUS(BH_INVALID_HANDLE, bh_session_complete((bh_session *)inherited, 5000, NULL));
    bh_application_close(own.application);
    CHECK_STATUS(BH_INVALID_HANDLE, bh_session_complete(own.session, 5000, NULL));
}

static void a_child_may_open_the_application_again(void) {
    struct handles all = open_all();
    expect_child(use_anew, &all);
    expect_whole(&all);
}

static void a_child_may_be_the_first_to_open_the_application(void) {
    struct handles none = {NULL, NULL, NULL, NULL};
    CHECK(bh_batch_count(NULL) == 0);
    expect_child(use_anew, &none);
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

static void fork_while_busy(int rounds, void *(*busy)(void *), void (*body)(void *)) {
    enum { THREADS = 3 };
    struct handles all = open_all();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, busy, &all) == 0);
    for (int i = 0; i < rounds; i++) expect_child(body, &all);
    stopping = true;
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    expect_whole(&all);
}

static void a_child_made_while_other_threads_use_the_library_does_not_hang(void) {
    fork_while_busy(200, make_and_drop_handles, expect_forked);
}

static void a_child_of_a_busy_parent_may_open_the_application_again(void) {
    fork_while_busy(20, make_and_drop_handles, use_anew);
}

static void a_child_made_while_other_threads_open_and_close_applications_does_not_hang(void) {
    fork_while_busy(100, open_and_close, use_anew);
}

/* The parent and the child are both process 1, each in its own namespace. */
static void expect_forked_as_process_1(void *argument) {
    CHECK(getpid() == 1);
    expect_forked(argument);
}

static void be_process_1(void *argument) {
    (void)argument;
    CHECK(getpid() == 1);
    struct handles all = open_all();
    CHECK(unshare(CLONE_NEWPID) == 0);
    expect_child(expect_forked_as_process_1, &all);
    /* Process 1 of the new namespace has ended, so this process can create no more threads. Therefore this function
     * closes no handles: the handles are freed when this process exits. */
}

static void handles_of_the_parent_are_refused_in_a_child_that_has_the_same_process_id(void) {
    /* Only root may create a namespace of process ids. Without such a namespace, a child never has the process id of
     * its parent. */
    if (unshare(CLONE_NEWPID) != 0) return;
    expect_child(be_process_1, NULL);
}

MAIN(TEST(handles_of_the_parent_are_refused_in_a_child), TEST(handles_of_the_parent_are_refused_in_a_grandchild),
     TEST(a_child_may_open_the_application_again), TEST(a_child_may_be_the_first_to_open_the_application),
     TEST(a_child_made_while_other_threads_use_the_library_does_not_hang),
     TEST(a_child_of_a_busy_parent_may_open_the_application_again),
     TEST(a_child_made_while_other_threads_open_and_close_applications_does_not_hang),
     TEST(handles_of_the_parent_are_refused_in_a_child_that_has_the_same_process_id))
