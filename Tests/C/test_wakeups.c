/* Tests that an event loop (epoll(7)) sleeps unless it has something to do. The loop follows the header: it watches the
 * descriptors of the application and of its sessions, starts operations with BH_START, and reads their tickets. A
 * wake-up is *empty* if the loop then finds nothing. */
#include "engine_process.h"

#include <sys/epoll.h>

static bh_error error = BH_INIT(bh_error);

/* An event loop with one attached session. */
struct host {
    bh_application *application;
    bh_session *session;
    bh_ticket *poll;
    int epoll, application_fd, session_fd;
    unsigned wakeups, empty, events;
};

enum { NOTHING = 0, APPLICATION = 1, SESSION = 2 };

static void watch(int epoll, int descriptor, unsigned name) {
    struct epoll_event interest = {.events = EPOLLIN, .data.u32 = name};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &interest) == 0);
}

static struct host open_host(void) {
    struct host host = {.application = open_application(), .epoll = epoll_create1(EPOLL_CLOEXEC)};
    host.session = create_session(host.application, "gallery", BH_ROLE_CONSUME);
    CHECK_STATUS(BH_OK, bh_application_event_fd(host.application, &host.application_fd, &error));
    CHECK_STATUS(BH_OK, bh_session_event_fd(host.session, &host.session_fd, &error));
    watch(host.epoll, host.application_fd, APPLICATION);
    watch(host.epoll, host.session_fd, SESSION);
    return host;
}

/* The readable descriptors. Waits until at least one is readable, or returns immediately. */
static unsigned readable(const struct host *host, bool waits) {
    struct epoll_event found[4];
    unsigned names = NOTHING;
    int count = epoll_wait(host->epoll, found, 4, waits ? 20000 : 0);
    CHECK(count >= (waits ? 1 : 0));
    for (int i = 0; i < count; i++) names |= found[i].data.u32;
    return names;
}

#define CHECK_READABLE(expected, host) CHECK(readable(host, false) == (expected))

/* Makes `count` events in the session, and waits until the client has been notified. */
static void make_events(const struct host *host, int count) {
    bh_request request = idle_request();
    for (int i = 0; i < count; i++) enqueue_one(host->session, &request);
    CHECK_STATUS(BH_OK, bh_tasks_cancel(host->session, NULL, 20000, NULL, &error));
    while (!(readable(host, true) & SESSION)) continue;
}

static bh_ticket *start_poll(const struct host *host, uint64_t after, size_t maximum) {
    return ticket_of(bh_session_poll(host->session, after, maximum, BH_START, NULL, &error), &error);
}

static bh_ticket *next_ticket(const struct host *host) {
    bh_ticket *ticket = NULL;
    CHECK_STATUS(BH_OK, bh_application_next_ticket(host->application, &ticket, &error));
    return ticket;
}

/* Reads events with calls that wait, until the session has no more. */
static void read_all(const struct host *host) {
    bh_batch *events = NULL;
    do {
        bh_batch_release(events);
        CHECK_STATUS(BH_OK, bh_session_poll(host->session, 0, 1000, 0, &events, &error));
    } while (bh_batch_more(events));
    uint64_t last = bh_batch_event_at(events, bh_batch_count(events) - 1)->id;
    bh_batch_release(events);
    CHECK_STATUS(BH_OK, bh_session_acknowledge_through(host->session, last, 20000, NULL, &error));
}

/* Reads the first event. After this, another poll for the first event needs a reply from the engine. */
static void take_first_event(const struct host *host) {
    bh_batch *events = NULL;
    CHECK_STATUS(BH_OK, bh_session_poll(host->session, 0, 1, 20000, &events, &error));
    CHECK(bh_batch_count(events) == 1 && bh_batch_more(events));
    bh_batch_release(events);
}

static void nothing_is_readable_while_the_application_is_idle(void) {
    struct host host = open_host();
    CHECK_READABLE(NOTHING, &host);
    make_events(&host, 3);
    CHECK_READABLE(APPLICATION | SESSION, &host);
    read_all(&host);
    CHECK_READABLE(NOTHING, &host);
    bh_application_close(host.application);
    CHECK_READABLE(NOTHING, &host);
}

static void nothing_is_readable_while_a_started_operation_is_under_way(void) {
    pid_t engine = start_engine();
    struct host host = open_host();
    stop(engine);
    bh_ticket *ticket = ticket_of(bh_session_complete(host.session, BH_START, &error), &error);
    CHECK_READABLE(NOTHING, &host);
    kill(engine, SIGCONT);
    CHECK(readable(&host, true) == APPLICATION);
    CHECK(next_ticket(&host) == ticket && next_ticket(&host) == NULL);
    CHECK_READABLE(NOTHING, &host);
    bh_ticket_release(ticket);
    CHECK_READABLE(NOTHING, &host);
    bh_application_close(host.application);
    end(engine);
}

static void nothing_is_readable_while_a_started_poll_is_under_way_with_and_without_events(void) {
    pid_t engine = start_engine();
    struct host host = open_host();
    stop(engine);
    bh_ticket *ticket = start_poll(&host, 7, 10);
    CHECK_READABLE(NOTHING, &host);
    kill(engine, SIGCONT);
    CHECK(readable(&host, true) == APPLICATION);
    CHECK(next_ticket(&host) == ticket);
    bh_ticket_release(ticket);
    CHECK_READABLE(NOTHING, &host);

    make_events(&host, 3);
    take_first_event(&host);
    stop(engine);
    CHECK_READABLE(APPLICATION | SESSION, &host);
    ticket = start_poll(&host, 0, 2);
    CHECK_READABLE(NOTHING, &host);
    bh_ticket *second = start_poll(&host, 0, 1);
    CHECK_READABLE(NOTHING, &host);
    kill(engine, SIGCONT);
    CHECK_STATUS(BH_OK, bh_ticket_wait(second, 20000, &error));
    /* Both tickets are ready, and the session has further events. */
    CHECK_READABLE(APPLICATION | SESSION, &host);
    CHECK(next_ticket(&host) == ticket && next_ticket(&host) == second);
    read_all(&host);
    bh_ticket_release(ticket);
    bh_ticket_release(second);
    bh_application_close(host.application);
    end(engine);
}

static void a_poll_whose_events_were_not_read_makes_both_descriptors_readable_again(void) {
    struct host host = open_host();
    make_events(&host, 3);
    bh_ticket *ticket = start_poll(&host, 0, 10);
    CHECK(readable(&host, true) == APPLICATION);
    CHECK(next_ticket(&host) == ticket);
    CHECK_READABLE(NOTHING, &host);
    bh_ticket_release(ticket);
    CHECK_READABLE(APPLICATION | SESSION, &host);
    bh_application_close(host.application);
}

static void a_session_that_bh_application_poll_has_returned_makes_only_its_own_descriptor_readable(void) {
    struct host host = open_host();
    bh_batch *sessions = NULL;
    make_events(&host, 1);
    CHECK_READABLE(APPLICATION | SESSION, &host);
    CHECK_STATUS(BH_OK, bh_application_poll(host.application, 0, &sessions, &error));
    CHECK(bh_batch_count(sessions) == 1);
    bh_batch_release(sessions);
    CHECK_READABLE(SESSION, &host);
    bh_application_close(host.application);
}

static void a_second_session_makes_the_descriptor_of_the_application_readable_until_it_is_returned(void) {
    struct host host = open_host();
    struct host second = host;
    bh_batch *sessions = NULL;
    second.session = create_session(host.application, "second", BH_ROLE_CONSUME);
    second.epoll = epoll_create1(EPOLL_CLOEXEC);
    CHECK_STATUS(BH_OK, bh_session_event_fd(second.session, &second.session_fd, &error));
    watch(second.epoll, second.session_fd, SESSION);
    make_events(&second, 1);
    CHECK_READABLE(APPLICATION, &host);
    /* The polls of one session do not hide the events of another. */
    bh_ticket *ticket = start_poll(&host, 0, 10);
    CHECK(readable(&host, true) == APPLICATION);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, &error));
    CHECK(next_ticket(&host) == ticket);
    bh_ticket_release(ticket);
    CHECK_READABLE(APPLICATION, &host);
    bh_session_close(second.session);
    CHECK_READABLE(APPLICATION, &host);
    CHECK_STATUS(BH_OK, bh_application_poll(host.application, 0, &sessions, &error));
    CHECK(bh_batch_count(sessions) == 1);
    CHECK(strcmp(bh_batch_session_at(sessions, 0)->identifier, "second") == 0);
    bh_batch_release(sessions);
    CHECK_READABLE(NOTHING, &host);
    bh_application_close(host.application);
}

static void a_session_that_is_closed_during_its_poll_needs_attention_again(void) {
    pid_t engine = start_engine();
    struct host host = open_host();
    make_events(&host, 3);
    take_first_event(&host);
    stop(engine);
    start_poll(&host, 0, 1);
    CHECK_READABLE(NOTHING, &host);
    bh_session_close(host.session);
    CHECK_READABLE(APPLICATION, &host);
    bh_application_close(host.application);
    end(engine);
}

static void nothing_is_readable_while_the_engine_is_stopped_and_the_listing_of_sessions_is_late(void) {
    pid_t engine = start_engine();
    struct host host = open_host();
    bh_batch *sessions = NULL;
    make_events(&host, 1);
    bh_session_close(host.session);
    stop(engine);
    CHECK_READABLE(APPLICATION, &host);
    CHECK_STATUS(BH_ENGINE_UNRESPONSIVE, bh_application_poll(host.application, 0, &sessions, &error));
    CHECK_READABLE(NOTHING, &host);
    kill(engine, SIGCONT);
    CHECK(readable(&host, true) == APPLICATION);
    CHECK_STATUS(BH_OK, bh_application_poll(host.application, 0, &sessions, &error));
    CHECK(bh_batch_count(sessions) == 1);
    bh_batch_release(sessions);
    CHECK_READABLE(NOTHING, &host);
    bh_application_close(host.application);
    end(engine);
}

static void nothing_is_readable_while_a_killed_engine_is_replaced(void) {
    pid_t engine = start_engine();
    struct host host = open_host();
    make_events(&host, 3);
    take_first_event(&host);
    stop(engine);
    bh_ticket *ticket = start_poll(&host, 0, 1);
    end(engine);
    /* This process is the next engine. It replies to the poll, and the session has further events. */
    while (!(readable(&host, true) & APPLICATION)) FAIL("the session is readable before the reply to its poll");
    CHECK(next_ticket(&host) == ticket);
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 0, &error));
    bh_ticket_release(ticket);
    read_all(&host);
    CHECK_READABLE(NOTHING, &host);
    bh_application_close(host.application);
}

/* One wake-up of the event loop, as the header describes it. */
static void run_once(struct host *host) {
    unsigned names = readable(host, true);
    bool isEmpty = true;
    host->wakeups++;
    if (names & SESSION && !host->poll) {
        host->poll = start_poll(host, 0, 10);
        isEmpty = false;
    }
    for (bh_ticket *ticket; (ticket = next_ticket(host)) != NULL; isEmpty = false) {
        if (ticket == host->poll) {
            bh_batch *events = NULL;
            CHECK_STATUS(BH_OK, bh_ticket_batch(ticket, &events, &error));
            size_t count = bh_batch_count(events);
            host->events += (unsigned)count;
            host->poll = NULL;
            if (count > 0) {
                uint64_t last = bh_batch_event_at(events, count - 1)->id;
                ticket_of(bh_session_acknowledge_through(host->session, last, BH_START, NULL, &error), &error);
            }
            bh_batch_release(events);
        }
        bh_ticket_release(ticket);
    }
    if (isEmpty) host->empty++;
}

static void an_event_loop_that_reads_a_thousand_events_has_no_empty_wakeup(void) {
    enum { COUNT = 1000 };
    pid_t engine = start_engine();
    struct host host = open_host();
    bh_request request = idle_request();
    for (int i = 0; i < COUNT; i++)
        bh_ticket_release(ticket_of(bh_session_enqueue(host.session, &request, 1, BH_START, NULL, &error), &error));
    ticket_of(bh_tasks_cancel(host.session, NULL, BH_START, NULL, &error), &error);
    /* One event for the end of each task, and one for the end of all. */
    while (host.events < COUNT + 1) run_once(&host);
    if (host.empty > 0) FAIL("%u of %u wake-ups are empty", host.empty, host.wakeups);
    bh_application_close(host.application);
    end(engine);
}

MAIN(TEST(nothing_is_readable_while_the_application_is_idle),
     TEST(nothing_is_readable_while_a_started_operation_is_under_way),
     TEST(nothing_is_readable_while_a_started_poll_is_under_way_with_and_without_events),
     TEST(a_poll_whose_events_were_not_read_makes_both_descriptors_readable_again),
     TEST(a_session_that_bh_application_poll_has_returned_makes_only_its_own_descriptor_readable),
     TEST(a_second_session_makes_the_descriptor_of_the_application_readable_until_it_is_returned),
     TEST(a_session_that_is_closed_during_its_poll_needs_attention_again),
     TEST(nothing_is_readable_while_the_engine_is_stopped_and_the_listing_of_sessions_is_late),
     TEST(nothing_is_readable_while_a_killed_engine_is_replaced),
     TEST(an_event_loop_that_reads_a_thousand_events_has_no_empty_wakeup))
