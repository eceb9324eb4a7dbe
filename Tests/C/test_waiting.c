/* A program reads the conditions, and the reason why a task waits. */
#include "check.h"

#include <sys/stat.h>
#include <time.h>

static bh_error error = BH_INIT(bh_error);

/* Writes a file of a fake /sys, and creates the folders above the file. */
static void write_file(const char *root, const char *name, const char *text) {
    char path[512];
    CHECK((size_t)snprintf(path, sizeof path, "%s/%s", root, name) < sizeof path);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fprintf(file, "%s\n", text) > 0 && fclose(file) == 0);
}

static void there_is_one_condition_of_each_kind_with_its_source(void) {
    bh_batch *batch = NULL;
    unsigned seen = 0;
    CHECK_STATUS(BH_OK, bh_store_conditions(application, 20000, &batch, &error));
    for (size_t i = 0; i < bh_batch_count(batch); i++) {
        const bh_condition *condition = bh_batch_condition_at(batch, i);
        CHECK(condition->struct_size == sizeof *condition);
        CHECK(!(seen & 1u << condition->kind));
        seen |= 1u << condition->kind;
        CHECK(condition->text != NULL && *condition->text && condition->source != NULL && *condition->source);
    }
    CHECK(seen == ((1u << BH_CONDITION_THROUGHPUT) - 1) * 2);
    CHECK(bh_batch_hold_at(batch, 0) == NULL && bh_batch_task_at(batch, 0) == NULL);
    bh_batch_release(batch);
}

static void the_reason_of_a_waiting_task_and_the_start_of_its_wait_are_listed(void) {
    bh_request request = BH_INIT(bh_request);
    bh_batch *batch = NULL;
    request.url = "http://127.0.0.1:9/file";
    request.earliest_start_ms = 4000000000000;
    bh_enqueued result = enqueue_one(session, &request);
    CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &batch, &error));
    const bh_task_info *task = bh_batch_task_at(batch, 0);
    CHECK(task->state == BH_TASK_WAITING && task->reason == BH_REASON_EARLIEST_START);
    CHECK(task->next_attempt_ms == 4000000000000 && task->reason_text != NULL);
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_task_waits(session, result.task_id, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1);
    const bh_wait_record *wait = bh_batch_wait_at(batch, 0);
    CHECK(wait->struct_size == sizeof *wait && wait->reason == BH_REASON_EARLIEST_START);
    CHECK(wait->began_ms > 0 && wait->ended_ms == 0 && wait->reason_text != NULL && wait->reserved == 0);
    CHECK(wait->task_id == result.task_id);
    bh_batch_release(batch);
    uint64_t tasks[] = {result.task_id + 1, result.task_id};
    CHECK_STATUS(BH_OK, bh_tasks_waits(session, tasks, 2, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1 && bh_batch_wait_at(batch, 0)->task_id == result.task_id && !bh_batch_more(batch));
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_tasks_attempts(session, tasks, 2, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 0 && !bh_batch_more(batch));
    bh_batch_release(batch);
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_tasks_waits(session, tasks, 1001, 20000, &batch, &error));
    CHECK_STATUS(BH_INVALID_ARGUMENT, bh_tasks_attempts(session, NULL, 1, 20000, &batch, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_task_waits(session, result.task_id + 1, 20000, &batch, &error));
}

static void a_discretionary_task_is_held_on_battery_until_its_constraint_is_removed(void) {
    char root[400];
    bh_session_configuration configuration = BH_INIT(bh_session_configuration);
    bh_policy policy = BH_INIT(bh_policy);
    bh_request request = BH_INIT(bh_request);
    bh_session *session = NULL;
    bh_batch *batch = NULL;
    CHECK((size_t)snprintf(root, sizeof root, "%s-sys", store) < sizeof root);
    write_file(root, "class/power_supply/AC/type", "Mains");
    write_file(root, "class/power_supply/AC/online", "0");
    write_file(root, "class/power_supply/BAT0/type", "Battery");
    write_file(root, "class/power_supply/BAT0/present", "1");
    write_file(root, "class/power_supply/BAT0/status", "Discharging");
    write_file(root, "class/power_supply/BAT0/capacity", "63");
    CHECK(setenv("BACKHAUL_SYS_ROOT", root, 1) == 0);

    bh_application *application = open_application();
    configuration.identifier = "gallery";
    configuration.constraints.preset = BH_PRESET_DISCRETIONARY;
    CHECK_STATUS(BH_OK, bh_session_create(application, &configuration, BH_ROLE_CONSUME, 20000, &session, NULL, &error));
    policy.retry.maximum_attempts = 1;
    request.url = "http://127.0.0.1:9/file";
    request.policy = &policy;
    CHECK_STATUS(BH_OK, bh_session_enqueue(session, &request, 1, 20000, NULL, &error));
    /* A hold sends no event, so the test polls until the engine, which runs the tasks, has read the conditions and
     * reports the hold. */
    for (int i = 0;; i++) {
        CHECK_STATUS(BH_OK, bh_store_holds(application, 20000, &batch, &error));
        if (bh_batch_count(batch) > 0) break;
        bh_batch_release(batch);
        CHECK(i < 2000);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    const bh_hold *hold = bh_batch_hold_at(batch, 0);
    CHECK(bh_batch_count(batch) == 1 && hold->struct_size == sizeof *hold && hold->reason == BH_REASON_POWER);
    CHECK(strcmp(hold->application, "org.example.tests") == 0 && strcmp(hold->session, "gallery") == 0);
    CHECK(hold->tasks == 1 && hold->began_ms > 0 && hold->reason_text != NULL && hold->reserved == 0);
    bh_batch_release(batch);

    configuration.constraints.preset = BH_PRESET_DEFAULT;
    CHECK_STATUS(BH_OK, bh_session_set_configuration(session, &configuration, 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_poll(session, 0, 1, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1 && bh_batch_event_at(batch, 0)->status == BH_CONNECTION_FAILED);
    uint64_t task = bh_batch_event_at(batch, 0)->task_id;
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_task_waits(session, task, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1 && bh_batch_wait_at(batch, 0)->reason == BH_REASON_POWER);
    CHECK(bh_batch_wait_at(batch, 0)->ended_ms >= bh_batch_wait_at(batch, 0)->began_ms);
    bh_batch_release(batch);
    bh_application_close(application);
}

MAIN(TEST(a_discretionary_task_is_held_on_battery_until_its_constraint_is_removed),
     APPLICATION_TEST(there_is_one_condition_of_each_kind_with_its_source),
     PRODUCER_TEST(the_reason_of_a_waiting_task_and_the_start_of_its_wait_are_listed))
