/* A program changes the earliest and latest starts of tasks, and the constraints of tasks. */
#include "fields.h"

#include <inttypes.h>

static void rescheduled_start_times_are_checked_and_listed(void) {
    bh_task_selection selection = BH_INIT(bh_task_selection);
    bh_request request = idle_request();
    bh_batch *tasks = NULL;
    uint64_t affected = 0;
    char name[40];
    request.latest_start_ms = 4000000000000;
    bh_enqueued result = enqueue_one(session, &request);
    selection.ids = &result.task_id;
    selection.id_count = 1;
#define RESCHEDULE(earliest, latest)                                                                                   \
    bh_tasks_reschedule(session, &selection, earliest, latest, 20000, &affected, &error)
    CHECK_STATUS(BH_OK, RESCHEDULE(4000000000000, BH_TIME_UNCHANGED));
    CHECK(affected == 1);
    CHECK_STATUS(BH_OK, RESCHEDULE(4000000000000, BH_TIME_UNCHANGED));
    CHECK(affected == 0);
    CHECK((size_t)snprintf(name, sizeof name, "task %" PRIu64 " ", result.task_id) < sizeof name);
    CHECK_REFUSED(name, RESCHEDULE(4000000000001, BH_TIME_UNCHANGED));
    CHECK_REFUSED(name, RESCHEDULE(BH_TIME_UNCHANGED, 1));
    CHECK_REFUSED("before earliest_start_ms", RESCHEDULE(2, 1));
    CHECK_REFUSED("earliest_start_ms is -2", RESCHEDULE(-2, 0));
    CHECK_REFUSED("latest_start_ms", RESCHEDULE(0, INT64_MIN));
    CHECK_REFUSED("before the year 10000", RESCHEDULE(253402300800000, 0));
    CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &tasks, &error));
    const bh_task_info *task = bh_batch_task_at(tasks, 0);
    CHECK(task->earliest_start_ms == 4000000000000 && task->latest_start_ms == 4000000000000);
    CHECK(task->constraints == NULL);
    bh_batch_release(tasks);
    CHECK_STATUS(BH_OK, RESCHEDULE(0, 0));
    CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &tasks, &error));
    task = bh_batch_task_at(tasks, 0);
    CHECK(task->earliest_start_ms == 0 && task->latest_start_ms == 0);
    bh_batch_release(tasks);
    bh_session *observer = NULL;
    CHECK_STATUS(BH_OK, bh_session_attach(application, "gallery", BH_ROLE_OBSERVE, 20000, &observer, &error));
    CHECK_STATUS(BH_WRONG_ROLE, bh_tasks_reschedule(observer, NULL, 0, 0, 20000, &affected, &error));
#undef RESCHEDULE
}

static void a_tasks_own_constraints_are_listed(void) {
    bh_request request = idle_request();
    bh_policy policy = BH_INIT(bh_policy);
    bh_batch *tasks = NULL;
    policy.constraints.preset = BH_PRESET_OVERNIGHT;
    policy.constraints.requires_external_power = BH_NO;
    policy.constraints.networks = BH_NETWORK_WIFI;
    policy.constraints.quiet_hours = "22:00-06:30";
    policy.retry.maximum_attempts = 7;
    request.policy = &policy;
    bh_enqueued result = enqueue_one(session, &request);
    CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &tasks, &error));
    const bh_constraints *stated = bh_batch_task_at(tasks, 0)->constraints;
    CHECK(stated != NULL);
    CHECK(stated->preset == BH_PRESET_OVERNIGHT && stated->requires_external_power == BH_NO);
    CHECK(stated->networks == BH_NETWORK_WIFI && strcmp(stated->quiet_hours, "22:00-06:30") == 0);
    CHECK(stated->requires_unmetered == BH_DEFAULT && stated->maximum_thermal_state == BH_THERMAL_DEFAULT);
    bh_constraints again = *stated;
    CHECK_STATUS(BH_OK, bh_tasks_set_constraints(session, NULL, &again, 20000, NULL, &error));
    bh_batch_release(tasks);
    CHECK_STATUS(BH_OK, bh_tasks_set_constraints(session, NULL, NULL, 20000, NULL, &error));
    CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &tasks, &error));
    CHECK(bh_batch_task_at(tasks, 0)->constraints == NULL);
    bh_batch_release(tasks);
}

static void new_constraints_of_a_task_replace_all_its_earlier_constraints(void) {
    bh_request request = idle_request();
    bh_constraints constraints = {0};
    bh_batch *tasks = NULL;
    uint64_t affected = 0;
    enqueue_one(session, &request);
    constraints.requires_unmetered = BH_YES;
    CHECK_STATUS(BH_OK, bh_tasks_set_constraints(session, NULL, &constraints, 20000, &affected, &error));
    CHECK(affected == 1);
    constraints = (bh_constraints){0};
    constraints.minimum_battery_percent = 40;
    CHECK_STATUS(BH_OK, bh_tasks_set_constraints(session, NULL, &constraints, 20000, &affected, &error));
    CHECK(affected == 1);
    CHECK_STATUS(BH_OK, bh_session_tasks(session, NULL, 0, 1, 20000, &tasks, &error));
    const bh_constraints *stated = bh_batch_task_at(tasks, 0)->constraints;
    CHECK(stated != NULL && stated->requires_unmetered == BH_DEFAULT && stated->minimum_battery_percent == 40);
    bh_batch_release(tasks);
    constraints.reserved[0] = 1;
    CHECK_REFUSED("reserved", bh_tasks_set_constraints(session, NULL, &constraints, 20000, &affected, &error));
}

MAIN(PRODUCER_TEST(rescheduled_start_times_are_checked_and_listed), PRODUCER_TEST(a_tasks_own_constraints_are_listed),
     PRODUCER_TEST(new_constraints_of_a_task_replace_all_its_earlier_constraints))
