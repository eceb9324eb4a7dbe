/* Structs of other versions of the header, and fields that must be 0. A program may be compiled with an older or
 * newer header than the library. So the program's structs may be shorter or longer than the structs of the library.
 * An item is an element of a list that the library returns. */
#include "fields.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* A struct as a later version of the header declares it, with one more field at its end. */
#define LATER(type)                                                                                                    \
    struct {                                                                                                           \
        type known;                                                                                                    \
        uint64_t later;                                                                                                \
    }

static void bh_init_and_the_initializer_macro_give_the_same_struct(void) {
    bh_request initialized = BH_INIT(bh_request), again;
    memset(&again, 0x55, sizeof again);
    bh_init(&again, sizeof again);
    CHECK(memcmp(&again, &initialized, sizeof again) == 0);
    CHECK(again.struct_size == sizeof again);
    bh_init(NULL, sizeof again);
}

/* Makes the call with a struct that has one more field. If this field is 0, the call must succeed. If this field has
 * another value, the call must fail. */
#define CHECK_LATER(type, name, given, call)                                                                           \
    do {                                                                                                               \
        LATER(type) longer = {given, 0};                                                                               \
        const type *argument = &longer.known;                                                                          \
        longer.known.struct_size = sizeof longer;                                                                      \
        bh_status status = (call);                                                                                     \
        if (status != BH_OK) FAIL("%s with a 0: %s: %s", #type, bh_status_name(status), error.message);                \
        longer.later = 1;                                                                                              \
        CHECK_REFUSED(name, call);                                                                                     \
        longer.later = UINT64_C(1) << 63;                                                                              \
        CHECK_REFUSED(name, call);                                                                                     \
    } while (0)

static void an_unknown_field_of_an_argument_must_be_0(void) {
    bh_application *application = open_application(), *other = NULL;
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME), *another = NULL;
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_limits limits = BH_INIT(bh_limits);
    bh_network network = BH_INIT(bh_network);
    bh_activity activity = BH_INIT(bh_activity);
    bh_launch_command command = BH_INIT(bh_launch_command);
    bh_task_selection selection = BH_INIT(bh_task_selection);
    bh_request request = idle_request();
    network.name = "Hotspot";
    activity.identifier = "feed";
    activity.interval_ms = 3600000;
    command.program = "/usr/bin/true";
    configuration.identifier = "gallery";
    CHECK_LATER(bh_session_configuration, "configuration", configuration,
                bh_session_create(application, argument, BH_ROLE_OBSERVE, 20000, &another, NULL, &error));
    CHECK_LATER(bh_session_configuration, "configuration", configuration,
                bh_session_set_configuration(session, argument, 20000, &error));
    CHECK_LATER(bh_limits, "limits", limits, bh_store_set_limits(application, argument, 20000, &error));
    CHECK_LATER(bh_network, "network", network, bh_store_set_network(application, argument, 20000, &error));
    CHECK_LATER(bh_activity, "activity", activity, bh_session_set_activity(session, argument, 20000, &error));
    CHECK_LATER(bh_launch_command, "launch", command, bh_application_set_launch(application, argument, 20000, &error));
    CHECK_LATER(bh_task_selection, "selection", selection, bh_tasks_suspend(session, argument, 20000, NULL, &error));
    CHECK_LATER(bh_request, "request", request, bh_session_enqueue(session, argument, 1, 20000, NULL, &error));
    bh_application_options options = BH_INIT(bh_application_options);
    options.identifier = "org.example.tests";
    options.store = store;
    options.hosting = BH_HOSTING_EMBEDDED;
    CHECK_LATER(bh_application_options, "options", options,
                (bh_application_close(other), other = NULL, bh_application_open(argument, 20000, &other, &error)));
    CHECK(other == NULL);
    bh_application_close(application);
}

static void an_unknown_field_of_a_struct_that_a_field_points_to_must_be_0(void) {
    bh_request request = idle_request();
    bh_policy policy = BH_INIT(bh_policy);
    bh_part part = BH_INIT(bh_part);
    bh_dependency dependency = BH_INIT(bh_dependency);
    bh_activity activity = BH_INIT(bh_activity);
    bh_request fetched = BH_INIT(bh_request);
    CHECK_LATER(bh_policy, "policy", policy,
                (request.policy = argument, bh_session_enqueue(session, &request, 1, 20000, NULL, &error)));
    request.policy = NULL;
    dependency.idempotency_key = "idle";
    request.idempotency_key = "idle";
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, 20000, NULL, &error));
    request.idempotency_key = NULL;
    CHECK_LATER(bh_dependency, "after", dependency,
                (request.after = argument, request.after_count = 1,
                 bh_session_enqueue(session, &request, 1, 20000, NULL, &error)));
    request.after = NULL;
    request.after_count = 0;
    part.name = "field";
    CHECK_LATER(bh_part, "part", part,
                (request.parts = argument, request.part_count = 1,
                 bh_session_enqueue(session, &request, 1, 20000, NULL, &error)));
    activity.identifier = "feed";
    activity.interval_ms = 3600000;
    fetched.url = "http://127.0.0.1:9/feed";
    CHECK_LATER(bh_request, "request", fetched,
                (activity.request = argument, bh_session_set_activity(session, &activity, 20000, &error)));
}

static void an_unknown_field_of_a_response_to_a_challenge_must_be_0(void) {
    LATER(bh_challenge_response) longer = {BH_INIT(bh_challenge_response), 0};
    longer.known.struct_size = sizeof longer;
    longer.known.kind = BH_RESPOND_REFUSE;
    CHECK_STATUS(BH_NOT_FOUND, bh_session_respond(session, 1, &longer.known, 20000, &error));
    longer.later = 1;
    CHECK_REFUSED("response", bh_session_respond(session, 1, &longer.known, 20000, &error));
}

static void a_call_fills_an_error_struct_of_a_later_header_and_keeps_its_unknown_fields(void) {
    LATER(bh_error) longer = {BH_INIT(bh_error), 7};
    longer.known.struct_size = sizeof longer;
    CHECK_STATUS(BH_INVALID_HANDLE, bh_ticket_wait(NULL, 0, &longer.known));
    CHECK(longer.known.status == BH_INVALID_HANDLE && longer.known.message[0] != 0 && longer.later == 7);
}

static void reserved_fields_of_a_session_must_be_0(void) {
    bh_session *session = NULL;
    bh_session_configuration given;
#define CHECK_RESERVED(field)                                                                                          \
    do {                                                                                                               \
        given = (bh_session_configuration)BH_INIT(bh_session_configuration);                                           \
        given.identifier = "gallery";                                                                                  \
        given.field = 1;                                                                                               \
        bh_status status = bh_session_create(application, &given, BH_ROLE_OBSERVE, 20000, &session, NULL, &error);     \
        if (status != BH_INVALID_ARGUMENT) FAIL("%s: %s", #field, bh_status_name(status));                             \
        if (!strstr(error.message, "reserved")) FAIL("%s: %s", #field, error.message);                                 \
    } while (0)
    CHECK_RESERVED(retry.reserved[0]);
    CHECK_RESERVED(retry.reserved[1]);
    CHECK_RESERVED(constraints.reserved[0]);
    CHECK_RESERVED(constraints.reserved[1]);
    CHECK_RESERVED(tls.reserved[0]);
    CHECK_RESERVED(tls.reserved[1]);
    CHECK_RESERVED(proxy.reserved[0]);
    CHECK_RESERVED(proxy.reserved[1]);
    CHECK_RESERVED(constraints.reserved_number);
    CHECK_RESERVED(tls.reserved_number);
    CHECK_RESERVED(reserved);
#undef CHECK_RESERVED
}

static void reserved_fields_of_a_policy_must_be_0(void) {
    bh_request request = idle_request();
    bh_policy policy;
    request.policy = &policy;
#define CHECK_RESERVED(field)                                                                                          \
    do {                                                                                                               \
        policy = (bh_policy)BH_INIT(bh_policy);                                                                        \
        policy.field = 1;                                                                                              \
        CHECK_REFUSED("reserved", bh_session_enqueue(session, &request, 1, 20000, NULL, &error));                      \
    } while (0)
    CHECK_RESERVED(retry.reserved[1]);
    CHECK_RESERVED(constraints.reserved[1]);
    CHECK_RESERVED(constraints.reserved_number);
#undef CHECK_RESERVED
}

static void reserved_fields_of_limits_must_be_0(void) {
    bh_limits limits = BH_INIT(bh_limits);
    limits.reserved = 1;
    CHECK_REFUSED("reserved", bh_store_set_limits(application, &limits, 20000, &error));
}

static void reserved_fields_of_a_network_must_be_0(void) {
    bh_network network = BH_INIT(bh_network);
    network.name = "Hotspot";
    network.reserved[2] = 1;
    CHECK_REFUSED("reserved", bh_store_set_network(application, &network, 20000, &error));
}

static void reserved_fields_of_a_selection_must_be_0(void) {
    bh_task_selection selection = BH_INIT(bh_task_selection);
    selection.reserved = 1;
    CHECK_REFUSED("reserved", bh_tasks_suspend(session, &selection, 20000, NULL, &error));
}

static void the_struct_size_of_the_first_request_is_the_stride_of_the_array(void) {
    enum { COUNT = 3 };
    struct {
        bh_request known;
        uint64_t later[3];
    } requests[COUNT];
    char keys[COUNT][8];
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_batch *results = NULL, *tasks = NULL;
    memset(requests, 0, sizeof requests);
    for (int i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], "key-%d", i);
        requests[i].known = idle_request();
        requests[i].known.struct_size = sizeof requests[i];
        requests[i].known.idempotency_key = keys[i];
    }
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &requests[0].known, COUNT, 20000, &results, &error));
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 10, 20000, &tasks, &error));
    CHECK(bh_batch_count(results) == COUNT && bh_batch_count(tasks) == COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(bh_batch_enqueued_at(results, i)->task_id == bh_batch_task_at(tasks, i)->id);
        CHECK_TEXT(keys[i], bh_batch_task_at(tasks, i)->idempotency_key);
    }
    bh_batch_release(results);
    bh_batch_release(tasks);
    requests[2].later[2] = 1;
    CHECK_REFUSED("request", bh_session_enqueue(session, &requests[0].known, COUNT, 20000, NULL, &error));
    CHECK(error.index == 2);
    bh_application_close(application);
}

static void the_struct_size_of_the_first_part_is_the_stride_of_the_array(void) {
    enum { COUNT = 3 };
    LATER(bh_part) longer[COUNT];
    bh_part parts[COUNT];
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request requests[2] = {idle_request(), idle_request()};
    bh_batch *tasks = NULL;
    memset(longer, 0, sizeof longer);
    for (size_t i = 0; i < COUNT; i++) {
        static const char value[] = "a value of some length";
        parts[i] = (bh_part)BH_INIT(bh_part);
        parts[i].name = "field";
        parts[i].value = value;
        parts[i].value_size = 3 * i + 1;
        longer[i].known = parts[i];
        longer[i].known.struct_size = sizeof longer[i];
    }
    requests[0].parts = parts;
    requests[1].parts = &longer[0].known;
    requests[0].part_count = requests[1].part_count = COUNT;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 2, 20000, &tasks, &error));
    CHECK(bh_batch_count(tasks) == 2 && bh_batch_task_at(tasks, 0)->body_size > 1 + 4 + 7);
    CHECK(bh_batch_task_at(tasks, 0)->body_size == bh_batch_task_at(tasks, 1)->body_size);
    bh_batch_release(tasks);
    longer[2].known.name = NULL;
    CHECK_REFUSED("name", bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
    CHECK(error.index == 1);
    bh_application_close(application);
}

static void an_element_with_another_struct_size_than_the_first_is_refused(void) {
    struct {
        bh_request known;
        uint64_t later[2];
    } requests[2];
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    memset(requests, 0, sizeof requests);
    for (int i = 0; i < 2; i++) {
        requests[i].known = idle_request();
        requests[i].known.struct_size = sizeof requests[i];
    }
    for (int i = 0; i < 2; i++) {
        requests[1].known.struct_size = sizeof requests[1] + 8 - 16 * (size_t)i;
        CHECK_REFUSED("struct_size", bh_session_enqueue(session, &requests[0].known, 2, 20000, NULL, &error));
        CHECK(error.index == 1);
    }
    bh_application_close(application);
}

static void nothing_is_read_past_the_end_of_an_array(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
    bh_part *parts = (bh_part *)(void *)(pages + page) - 2;
    bh_request *requests = (bh_request *)(void *)(pages + page) - 2;
    bh_request request = idle_request();
    for (int i = 0; i < 2; i++) {
        parts[i] = (bh_part)BH_INIT(bh_part);
        parts[i].name = "field";
    }
    request.parts = parts;
    request.part_count = 2;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, 20000, NULL, &error));
    parts[1].struct_size = 65536;
    CHECK_REFUSED("parts[1]", bh_session_enqueue(session, &request, 1, 20000, NULL, &error));
    for (int i = 0; i < 2; i++) requests[i] = idle_request();
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
    requests[1].struct_size = 65536;
    CHECK_REFUSED("struct_size", bh_session_enqueue(session, requests, 2, 20000, NULL, &error));
}

static void an_invalid_first_struct_size_of_an_array_is_refused(void) {
    static const size_t refused[] = {0,     8,        sizeof(bh_request) - 8, sizeof(bh_request) + 1,
                                     65544, SIZE_MAX, SIZE_MAX / 2 + 1};
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request requests[2] = {idle_request(), idle_request()};
    for (size_t count = 1; count <= 2; count++)
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
            requests[0].struct_size = refused[i];
            CHECK_REFUSED("struct_size", bh_session_enqueue(session, requests, count, 20000, NULL, &error));
            CHECK(error.index == 0);
        }
    bh_application_close(application);
}

static void an_item_that_is_read_with_a_smaller_size_has_only_the_first_fields(void) {
    bh_request request = idle_request();
    bh_batch *tasks = NULL;
    request.priority = 7;
    bh_enqueued result = enqueue_one(session, &request);
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 1, 20000, &tasks, &error));
    size_t size = offsetof(bh_task_info, priority);
    const bh_task_info *whole = bh_batch_task_at(tasks, 0);
    const bh_task_info *start = bh_batch_item(tasks, 0, BH_ITEM_TASK, size);
    CHECK(start != NULL && start->struct_size == size);
    CHECK(start->id == result.task_id && start->state == BH_TASK_SUSPENDED);
    CHECK_TEXT("http://127.0.0.1:9/file", start->url);
    CHECK(BH_HAS(start, bh_task_info, url) && !BH_HAS(start, bh_task_info, priority));
    /* The item that was read with its whole size is unchanged. */
    CHECK(whole->struct_size == sizeof *whole && whole->priority == 7);
    CHECK(BH_HAS(whole, bh_task_info, constraints));
    CHECK(bh_batch_task_at(tasks, 0)->struct_size == sizeof *whole);
    bh_batch_release(tasks);
}

static void an_item_that_is_read_with_a_larger_size_ends_with_zeros_and_can_be_passed_back(void) {
    struct later {
        bh_session_configuration known;
        uint64_t later[40];
    };
    bh_application *application = open_application();
    bh_session_configuration given = BH_INIT(bh_session_configuration);
    bh_session *session = NULL;
    bh_batch *batch = NULL;
    given.identifier = "gallery";
    given.connections_per_origin = 3;
    CHECK_STATUS(BH_OK, bh_session_create(application, &given, BH_ROLE_PRODUCE, 20000, &session, NULL, &error));
    CHECK_STATUS(BH_OK, bh_session_get_configuration(session, 20000, &batch, &error));
    const struct later *item = bh_batch_item(batch, 0, BH_ITEM_CONFIGURATION, sizeof(struct later));
    CHECK(item != NULL && item->known.struct_size == sizeof(bh_session_configuration));
    CHECK_TEXT("gallery", item->known.identifier);
    for (int i = 0; i < 40; i++) CHECK(item->later[i] == 0);
    struct later copy = *item;
    CHECK(copy.known.connections_per_origin == 3);
    copy.known.connections_per_origin = 4;
    /* This field is after the end that struct_size states, so the library does not read the field. */
    copy.later[0] = 1;
    CHECK_STATUS(BH_OK, bh_session_set_configuration(session, &copy.known, 20000, &error));
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_session_get_configuration(session, 20000, &batch, &error));
    CHECK(bh_batch_configuration_at(batch, 0)->connections_per_origin == 4);
    bh_batch_release(batch);
    bh_application_close(application);
}

static void an_item_of_another_kind_or_past_the_end_of_the_list_is_null(void) {
    bh_batch *limits = NULL;
    CHECK_STATUS(BH_OK, bh_store_limits(application, 20000, &limits, &error));
    for (bh_item_kind kind = -1; kind <= BH_ITEM_ENQUEUED + 1; kind++)
        CHECK((bh_batch_item(limits, 0, kind, sizeof(bh_limits)) != NULL) == (kind == BH_ITEM_LIMITS));
    CHECK(bh_batch_item(limits, 1, BH_ITEM_LIMITS, sizeof(bh_limits)) == NULL);
    CHECK(bh_batch_item(limits, SIZE_MAX, BH_ITEM_LIMITS, sizeof(bh_limits)) == NULL);
    CHECK(bh_batch_item(limits, SIZE_MAX / sizeof(bh_limits) + 1, BH_ITEM_LIMITS, sizeof(bh_limits)) == NULL);
    bh_batch_release(limits);
}

MAIN(TEST(bh_init_and_the_initializer_macro_give_the_same_struct), TEST(an_unknown_field_of_an_argument_must_be_0),
     PRODUCER_TEST(an_unknown_field_of_a_struct_that_a_field_points_to_must_be_0),
     CONSUMER_TEST(an_unknown_field_of_a_response_to_a_challenge_must_be_0),
     TEST(a_call_fills_an_error_struct_of_a_later_header_and_keeps_its_unknown_fields),
     APPLICATION_TEST(reserved_fields_of_a_session_must_be_0), PRODUCER_TEST(reserved_fields_of_a_policy_must_be_0),
     APPLICATION_TEST(reserved_fields_of_limits_must_be_0), APPLICATION_TEST(reserved_fields_of_a_network_must_be_0),
     PRODUCER_TEST(reserved_fields_of_a_selection_must_be_0),
     TEST(the_struct_size_of_the_first_request_is_the_stride_of_the_array),
     TEST(the_struct_size_of_the_first_part_is_the_stride_of_the_array),
     TEST(an_element_with_another_struct_size_than_the_first_is_refused),
     CONSUMER_TEST(nothing_is_read_past_the_end_of_an_array), TEST(an_invalid_first_struct_size_of_an_array_is_refused),
     CONSUMER_TEST(an_item_that_is_read_with_a_smaller_size_has_only_the_first_fields),
     TEST(an_item_that_is_read_with_a_larger_size_ends_with_zeros_and_can_be_passed_back),
     APPLICATION_TEST(an_item_of_another_kind_or_past_the_end_of_the_list_is_null))
