/* A host that says anew when tasks are to start, and looks at what they state for themselves. */
#include "fields.h"

#include <inttypes.h>

static void starts_are_said_anew_and_must_make_sense(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_PRODUCE);
    bh_task_selection selection = BH_TASK_SELECTION_INIT;
    bh_request request = idle_request();
    bh_enqueued result;
    bh_batch *tasks = NULL;
    uint64_t affected = 0;
    char name[40];
    request.latest_start_ms = 4000000000000;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, sizeof request, 20000, &result, NULL, &error));
    selection.ids = &result.task_id;
    selection.id_count = 1;
#define RESCHEDULE(earliest, latest)                                                                                   \
    bh_tasks_reschedule(session, &selection, earliest, latest, 20000, &affected, &error)
    CHECK_STATUS(BH_OK, RESCHEDULE(4000000000000, BH_START_UNCHANGED));
    CHECK(affected == 1);
    CHECK_STATUS(BH_OK, RESCHEDULE(4000000000000, BH_START_UNCHANGED));
    CHECK(affected == 0);
    CHECK((size_t)snprintf(name, sizeof name, "task %" PRIu64 " ", result.task_id) < sizeof name);
    CHECK_REFUSED(name, RESCHEDULE(4000000000001, BH_START_UNCHANGED));
    CHECK_REFUSED(name, RESCHEDULE(BH_START_UNCHANGED, 1));
    CHECK_REFUSED("before earliest_start_ms", RESCHEDULE(2, 1));
    CHECK_REFUSED("earliest_start_ms is -2", RESCHEDULE(-2, 0));
    CHECK_REFUSED("latest_start_ms", RESCHEDULE(0, INT64_MIN));
    CHECK_REFUSED("before the year 10000", RESCHEDULE(253402300800000, 0));
    CHECK_STATUS(BH_OK, bh_task_info(session, result.task_id, 20000, &tasks, &error));
    const bh_task *task = bh_batch_task_at(tasks, 0);
    CHECK(task->earliest_start_ms == 4000000000000 && task->latest_start_ms == 4000000000000);
    CHECK(task->constraints == NULL);
    bh_batch_release(tasks);
    CHECK_STATUS(BH_OK, RESCHEDULE(0, 0));
    CHECK_STATUS(BH_OK, bh_task_info(session, result.task_id, 20000, &tasks, &error));
    task = bh_batch_task_at(tasks, 0);
    CHECK(task->earliest_start_ms == 0 && task->latest_start_ms == 0);
    bh_batch_release(tasks);
    bh_session *observer = NULL;
    CHECK_STATUS(BH_OK, bh_session_attach(application, "gallery", BH_ROLE_OBSERVE, 20000, &observer, &error));
    CHECK_STATUS(BH_WRONG_ROLE, bh_tasks_reschedule(observer, NULL, 0, 0, 20000, &affected, &error));
#undef RESCHEDULE
    bh_application_close(application);
}

static void what_a_task_itself_states_is_listed_with_it(void) {
    bh_application *application = open_application();
    bh_session *session = create_session(application, "gallery", BH_ROLE_PRODUCE);
    bh_request request = idle_request();
    bh_policy policy = BH_POLICY_INIT;
    bh_enqueued result;
    bh_batch *tasks = NULL;
    policy.preset = BH_PRESET_OVERNIGHT;
    policy.requires_external_power = BH_NO;
    policy.networks = BH_NETWORK_WIFI;
    policy.quiet_hours = "22:00-06:30";
    policy.maximum_attempts = 7;
    request.policy = &policy;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, sizeof request, 20000, &result, NULL, &error));
    CHECK_STATUS(BH_OK, bh_task_info(session, result.task_id, 20000, &tasks, &error));
    const bh_policy *stated = bh_batch_task_at(tasks, 0)->constraints;
    CHECK(stated != NULL && stated->struct_size == sizeof *stated);
    CHECK(stated->preset == BH_PRESET_OVERNIGHT && stated->requires_external_power == BH_NO);
    CHECK(stated->networks == BH_NETWORK_WIFI && strcmp(stated->quiet_hours, "22:00-06:30") == 0);
    CHECK(stated->requires_unmetered == BH_DEFAULT && stated->maximum_attempts == 0);
    bh_policy again = *stated;
    CHECK_STATUS(BH_OK, bh_tasks_set_constraints(session, NULL, &again, 20000, NULL, &error));
    bh_batch_release(tasks);
    CHECK_STATUS(BH_OK, bh_tasks_set_constraints(session, NULL, NULL, 20000, NULL, &error));
    CHECK_STATUS(BH_OK, bh_task_info(session, result.task_id, 20000, &tasks, &error));
    CHECK(bh_batch_task_at(tasks, 0)->constraints == NULL);
    bh_batch_release(tasks);
    bh_application_close(application);
}

MAIN(TEST(starts_are_said_anew_and_must_make_sense), TEST(what_a_task_itself_states_is_listed_with_it))
