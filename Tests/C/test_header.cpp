// Tests of the header in C++17. A C++ host can use everything that a C host can use.
#include "check.h"

#include <cstring>
#include <type_traits>

static_assert(std::is_standard_layout<bh_event>::value && std::is_trivial<bh_event>::value, "events are plain C");
static_assert(std::is_same<std::underlying_type<bh_status>::type, int32_t>::value, "statuses have a fixed width");
static_assert(std::is_same<bh_attention, uint32_t>::value, "sets of bits have a fixed width");

static void the_initializers_and_functions_work_in_cpp(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = BH_INIT(bh_request);
    bh_task_selection selection = BH_INIT(bh_task_selection);
    bh_error error = BH_INIT(bh_error);
    bh_batch *results = nullptr;
    request.url = "http://127.0.0.1:9/file";
    request.flags = BH_REQUEST_STARTS_SUSPENDED;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, BH_WAIT_DEFAULT, &results, &error));
    const uint64_t task = bh_batch_enqueued_at(results, 0)->task_id;
    bh_batch_release(results);
    selection.ids = &task;
    selection.id_count = 1;
    selection.states = BH_STATE(BH_TASK_SUSPENDED) | BH_STATE(BH_TASK_WAITING);
    bh_batch *tasks = nullptr;
    CHECK_STATUS(BH_OK, bh_session_tasks(session, &selection, 0, 1, BH_WAIT_DEFAULT, &tasks, &error));
    CHECK(bh_batch_count(tasks) == 1 && bh_batch_task_at(tasks, 0)->id == task);
    CHECK(std::strcmp(BH_NAME(bh_task_state, bh_batch_task_at(tasks, 0)->state), "suspended") == 0);
    bh_batch_release(tasks);
    bh_application_close(application);
}

static void the_library_has_the_version_and_the_status_names_of_the_header(void) {
    CHECK(bh_version() == BH_VERSION);
    CHECK(std::strcmp(bh_status_name(BH_IN_USE), "BH_IN_USE") == 0);
    CHECK(std::strcmp(bh_status_name(static_cast<bh_status>(-1)), "BH_UNKNOWN") == 0);
    CHECK(std::strcmp(bh_status_text(BH_OK), "success") == 0);
}

static void each_status_has_the_name_and_the_text_of_the_table(void) {
#define CHECK_NAME(name, value, text)                                                                                  \
    CHECK(BH_##name == value && std::strcmp(bh_status_name(BH_##name), "BH_" #name) == 0);                             \
    CHECK(std::strcmp(bh_status_text(BH_##name), text) == 0);
    BH_STATUS_TABLE(CHECK_NAME)
#undef CHECK_NAME
}

MAIN(TEST(the_initializers_and_functions_work_in_cpp),
     TEST(the_library_has_the_version_and_the_status_names_of_the_header),
     TEST(each_status_has_the_name_and_the_text_of_the_table))
