/* Invalid handles: NULL, random values, closed handles, and handles of another kind. A handle is a pointer, such as a
 * bh_session *, that stands for an object of the library. */
#include "calls.h"

static bh_error error = BH_INIT(bh_error);

static void null_is_refused_as_a_handle(void) { expect_all(ALL_KINDS, NULL, BH_INVALID_HANDLE); }

static void a_pointer_that_was_never_a_handle_is_refused(void) {
    static const uintptr_t values[] = {1,
                                       8,
                                       16,
                                       4096,
                                       0xDEADBEEF,
                                       UINTPTR_MAX,
                                       UINTPTR_MAX - 15,
                                       UINTPTR_MAX / 2,
                                       (uintptr_t)1 << 46,
                                       ((uintptr_t)1 << 46) + 1,
                                       ((uintptr_t)1 << 46) + (1 << 20)};
    bh_application *application = open_application();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        expect_all(ALL_KINDS, (void *)values[i], BH_INVALID_HANDLE);
    expect_all(ALL_KINDS, &application, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS, (char *)application + 1, BH_INVALID_HANDLE);
    CHECK_STATUS(BH_OK, call_bh_application_sessions(application, 20000, NULL));
    bh_application_close(application);
}

static void random_values_are_refused_as_handles(void) {
    uint64_t seed = 0x9E3779B97F4A7C15u;
    for (int round = 0; round < 2000; round++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        expect_all(ALL_KINDS, (void *)(uintptr_t)seed, BH_INVALID_HANDLE);
    }
}

static void a_handle_of_another_kind_is_refused(void) {
    bh_ticket *ticket = NULL;
    bh_batch *batch = NULL;
    ticket = ticket_of(bh_session_tasks(session, NULL, 0, 1, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 1, 20000, &batch, NULL));
    expect_all(ALL_KINDS & ~(1u << APPLICATION), application, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS & ~(1u << SESSION), session, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS & ~(1u << TICKET), ticket, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS & ~(1u << BATCH), batch, BH_INVALID_HANDLE);
    /* All handles still work. */
    CHECK_STATUS(BH_OK, bh_ticket_wait(ticket, 20000, NULL));
    CHECK_STATUS(BH_OK, bh_session_complete(session, 20000, NULL));
    bh_batch_release(batch);
    bh_ticket_release(ticket);
    bh_session_close(session);
}

static void a_closed_handle_is_always_refused(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *ticket = NULL;
    bh_batch *batch = NULL;
    ticket = ticket_of(bh_session_tasks(session, NULL, 0, 1, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 1, 20000, &batch, NULL));
    bh_batch_release(batch);
    bh_ticket_release(ticket);
    bh_session_close(session);
    bh_application_close(application);
    /* Closed handles must stay invalid when new handles are created. */
    bh_application *next = open_application();
    for (int i = 0; i < 100; i++) {
        bh_session *another = create_session(next, "gallery", BH_ROLE_OBSERVE);
        CHECK((void *)another != (void *)session && (void *)another != (void *)application);
        bh_session_close(another);
    }
    expect_all(ALL_KINDS, application, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS, session, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS, ticket, BH_INVALID_HANDLE);
    expect_all(ALL_KINDS, batch, BH_INVALID_HANDLE);
    bh_application_close(next);
}

static void closing_an_application_ends_its_sessions_and_tickets_but_no_batches(void) {
    bh_application *application = open_application(), *other = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_session *others = create_session(other, "archive", BH_ROLE_CONSUME);
    bh_ticket *ticket = NULL;
    bh_batch *batch = NULL;
    ticket = ticket_of(bh_session_tasks(session, NULL, 0, 1, BH_START, NULL, &error), &error);
    CHECK_STATUS(BH_OK, bh_session_get_configuration(session, 20000, &batch, NULL));
    bh_application_close(application);
    expect_all(1u << SESSION, session, BH_INVALID_HANDLE);
    expect_all(1u << TICKET, ticket, BH_INVALID_HANDLE);
    CHECK(bh_batch_count(batch) == 1);
    CHECK(strcmp(bh_batch_configuration_at(batch, 0)->identifier, "gallery") == 0);
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_session_complete(others, 20000, NULL));
    bh_application_close(other);
}

static void handles_may_be_closed_in_any_order_and_more_than_once(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_ticket *ticket = NULL;
    ticket = ticket_of(bh_session_tasks(session, NULL, 0, 1, BH_START, NULL, &error), &error);
    bh_session_close(session);
    bh_session_close(session);
    bh_application_close(application);
    bh_application_close(application);
    bh_ticket_release(ticket);
    bh_ticket_release(ticket);
    bh_session_close(session);
}

static void a_call_without_an_error_struct_is_valid(void) {
    for (size_t i = 0; i < CALL_COUNT; i++) CHECK(calls[i].make(NULL, 20000, NULL) == BH_INVALID_HANDLE);
}

static void an_error_struct_of_a_wrong_size_is_not_changed(void) {
    static const size_t sizes[] = {0, 1, sizeof(bh_error) - 1, SIZE_MAX, (size_t)1 << 40};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bh_error given, before;
        memset(&given, 0x55, sizeof given);
        given.struct_size = sizes[i];
        before = given;
        CHECK_STATUS(BH_INVALID_HANDLE, bh_ticket_wait(NULL, 0, &given));
        CHECK(memcmp(&given, &before, sizeof given) == 0);
    }
}

static void a_success_resets_only_the_status_and_the_ticket_of_a_reused_error_struct(void) {
    bh_error used, expected;
    bh_batch *batch = NULL;
    memset(&used, 0x55, sizeof used);
    used.struct_size = sizeof used;
    expected = used;
    expected.status = BH_OK;
    expected.ticket = NULL;
    CHECK_STATUS(BH_OK, bh_application_sessions(application, 20000, &batch, &used));
    CHECK(memcmp(&used, &expected, sizeof used) == 0);
    used = expected;
    used.status = BH_TIMEOUT;
    used.ticket = UNTOUCHED;
    CHECK_STATUS(BH_OK, bh_store_set_limits(application, &(bh_limits)BH_INIT(bh_limits), 20000, &used));
    CHECK(memcmp(&used, &expected, sizeof used) == 0);
    bh_batch_release(batch);
}

MAIN(TEST(null_is_refused_as_a_handle), TEST(a_pointer_that_was_never_a_handle_is_refused),
     TEST(random_values_are_refused_as_handles), CONSUMER_TEST(a_handle_of_another_kind_is_refused),
     TEST(a_closed_handle_is_always_refused), TEST(closing_an_application_ends_its_sessions_and_tickets_but_no_batches),
     TEST(handles_may_be_closed_in_any_order_and_more_than_once), TEST(a_call_without_an_error_struct_is_valid),
     TEST(an_error_struct_of_a_wrong_size_is_not_changed),
     APPLICATION_TEST(a_success_resets_only_the_status_and_the_ticket_of_a_reused_error_struct))
