// The header as C++17: everything a C host writes, a C++ host may write.
#include "check.h"

#include <cstring>
#include <type_traits>

static_assert(std::is_standard_layout<bh_event>::value && std::is_trivial<bh_event>::value, "events are plain C");
static_assert(std::is_same<bh_status, int32_t>::value, "statuses have a fixed width");

static void the_initializers_and_functions_serve_cpp(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_CONSUME);
    bh_request request = BH_REQUEST_INIT;
    bh_task_selection selection = BH_TASK_SELECTION_INIT;
    bh_error error = BH_ERROR_INIT;
    bh_enqueued result{};
    request.url = "http://127.0.0.1:9/file";
    request.flags = BH_REQUEST_STARTS_SUSPENDED;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, sizeof request, BH_WAIT_DEFAULT, &result, nullptr,
                                           &error));
    selection.ids = &result.task_id;
    selection.id_count = 1;
    bh_batch *tasks = nullptr;
    CHECK_STATUS(BH_OK, bh_session_tasks(session, &selection, 0, 1, BH_WAIT_DEFAULT, &tasks, &error));
    CHECK(bh_batch_count(tasks) == 1 && bh_batch_task_at(tasks, 0)->id == result.task_id);
    bh_batch_release(tasks);
    bh_application_close(application);
}

static void the_version_is_that_of_the_header(void) {
    CHECK(bh_version() == BH_VERSION);
    CHECK(std::strcmp(bh_status_name(BH_IN_USE), "BH_IN_USE") == 0);
    CHECK(std::strcmp(bh_status_name(-1), "BH_UNKNOWN") == 0);
    CHECK(std::strcmp(bh_status_text(BH_OK), "success") == 0);
}

MAIN(TEST(the_initializers_and_functions_serve_cpp), TEST(the_version_is_that_of_the_header))
