/* Tests of fields about constraints, start times, expected sizes, networks and activities. Valid values are returned
 * unchanged. The error about an invalid value names the field. */
#include "fields.h"

#include <stddef.h>

static bh_session_configuration everything(void) {
    bh_session_configuration given = BH_INIT(bh_session_configuration);
    given.identifier = "gallery";
    given.constraints.preset = BH_PRESET_OVERNIGHT;
    given.constraints.requires_external_power = BH_NO;
    given.constraints.requires_unmetered = BH_YES;
    given.constraints.networks = BH_NETWORK_ETHERNET | BH_NETWORK_OTHER;
    given.constraints.minimum_battery_percent = 100;
    given.constraints.maximum_thermal_state = BH_THERMAL_NOMINAL;
    given.constraints.maximum_cpu_pressure_percent = 1;
    given.constraints.maximum_io_pressure_percent = 50;
    given.constraints.maximum_memory_pressure_percent = 100;
    given.constraints.minimum_bytes_per_second = UINT64_C(1) << 40;
    given.constraints.quiet_hours = "mon-fri 08:00-18:00, sat 10:00-14:00";
    given.slow_after_ms = 1000;
    given.slow_pause_ms = 2000;
    given.discretionary_if_launched = BH_YES;
    given.budget.daily = UINT64_C(1) << 41;
    given.budget.monthly = BH_BUDGET_NOTHING;
    return given;
}

static void session_constraints_are_read_back_unchanged(void) {
    bh_session_configuration given = everything();
    bh_session *session = NULL;
    bh_batch *batch = NULL;
    const bh_session_configuration *got = stored_configuration(application, &given, &session, &batch);
    const bh_constraints *constraints = &got->constraints;
    CHECK(constraints->preset == BH_PRESET_OVERNIGHT && constraints->requires_external_power == BH_NO);
    CHECK(constraints->requires_unmetered == BH_YES);
    CHECK(constraints->networks == (BH_NETWORK_ETHERNET | BH_NETWORK_OTHER));
    CHECK(constraints->minimum_battery_percent == 100);
    CHECK(constraints->maximum_thermal_state == BH_THERMAL_NOMINAL);
    CHECK(constraints->maximum_cpu_pressure_percent == 1 && constraints->maximum_io_pressure_percent == 50);
    CHECK(constraints->maximum_memory_pressure_percent == 100);
    CHECK(constraints->minimum_bytes_per_second == UINT64_C(1) << 40);
    CHECK_TEXT("mon-fri 08:00-18:00, sat 10:00-14:00", constraints->quiet_hours);
    CHECK(got->slow_after_ms == 1000 && got->slow_pause_ms == 2000 && got->discretionary_if_launched == BH_YES);
    CHECK(got->budget.daily == UINT64_C(1) << 41 && got->budget.monthly == BH_BUDGET_NOTHING);
    CHECK(got->tolerances == 0);
    CHECK_STATUS(BH_OK, bh_session_set_configuration(session, got, 20000, &error));
    bh_batch_release(batch);
}

static void the_error_for_an_invalid_constraint_names_the_field(void) {
    bh_session *producer = create_session(application, "others", BH_ROLE_PRODUCE);
    bh_session_configuration given;
    bh_session *session = NULL;
    bh_request request = idle_request();
    bh_policy policy;
    request.policy = &policy;
    /* Each check passes the value in the configuration of a session, and then in the policy of a request. */
#define CHECK_BAD(word, assignment)                                                                                    \
    do {                                                                                                               \
        given = everything();                                                                                          \
        given.assignment;                                                                                              \
        CHECK_REFUSED(word, bh_session_create(application, &given, BH_ROLE_PRODUCE, 20000, &session, NULL, &error));   \
        policy = (bh_policy)BH_INIT(bh_policy);                                                                        \
        policy.assignment;                                                                                             \
        CHECK_REFUSED(word, bh_session_enqueue(producer, &request, 1, 20000, NULL, &error));                           \
        CHECK(error.index == 0);                                                                                       \
    } while (0)
    CHECK_BAD("preset", constraints.preset = 3);
    CHECK_BAD("preset", constraints.preset = -1);
    CHECK_BAD("requires_external_power", constraints.requires_external_power = 3);
    CHECK_BAD("requires_unmetered", constraints.requires_unmetered = -1);
    CHECK_BAD("networks", constraints.networks = 64);
    CHECK_BAD("minimum_battery_percent", constraints.minimum_battery_percent = 101);
    CHECK_BAD("minimum_battery_percent", constraints.minimum_battery_percent = UINT32_MAX);
    CHECK_BAD("maximum_thermal_state", constraints.maximum_thermal_state = BH_THERMAL_CRITICAL);
    CHECK_BAD("maximum_thermal_state", constraints.maximum_thermal_state = 5);
    CHECK_BAD("maximum_cpu_pressure_percent", constraints.maximum_cpu_pressure_percent = 101);
    CHECK_BAD("maximum_io_pressure_percent", constraints.maximum_io_pressure_percent = 101);
    CHECK_BAD("maximum_memory_pressure_percent", constraints.maximum_memory_pressure_percent = 101);
    CHECK_BAD("quiet_hours", constraints.quiet_hours = "");
    CHECK_BAD("quiet_hours", constraints.quiet_hours = "22:00");
    CHECK_BAD("quiet_hours", constraints.quiet_hours = "24:00-06:00");
    CHECK_BAD("quiet_hours", constraints.quiet_hours = "06:00-06:00");
    CHECK_BAD("quiet_hours", constraints.quiet_hours = "someday 06:00-07:00");
    CHECK_BAD("quiet_hours", constraints.quiet_hours = "00:00-12:00, 12:00-24:00");
#undef CHECK_BAD
    CHECK(session == NULL);
}

static void start_times_and_expected_sizes_are_checked_and_read_back(void) {
    bh_request request = idle_request();
    bh_batch *tasks = NULL;
    request.earliest_start_ms = 4000000000000;
    request.latest_start_ms = 4000000000000;
    request.expected_bytes_received = UINT64_MAX;
    request.expected_bytes_sent = 1;
    bh_enqueued result = enqueue_one(session, &request);
    CHECK_STATUS(BH_OK, bh_session_task(session, result.task_id, 20000, &tasks, &error));
    const bh_task_info *task = bh_batch_task_at(tasks, 0);
    CHECK(task->earliest_start_ms == 4000000000000 && task->latest_start_ms == 4000000000000);
    CHECK(task->expected_bytes_received == UINT64_MAX && task->expected_bytes_sent == 1);
    bh_batch_release(tasks);
#define CHECK_BAD(word) CHECK_REFUSED(word, bh_session_enqueue(session, &request, 1, 20000, NULL, &error))
    request.latest_start_ms = 3999999999999;
    CHECK_BAD("earliest_start_ms");
    request.latest_start_ms = -1;
    CHECK_BAD("latest_start_ms");
    request.latest_start_ms = 0;
    request.earliest_start_ms = INT64_MIN;
    CHECK_BAD("earliest_start_ms");
    request.earliest_start_ms = 253402300800000; /* the year 10000 */
    CHECK_BAD("before the year 10000");
    request.earliest_start_ms = 0;
    request.refresh = BH_REFRESH_URL;
    request.expires_ms = INT64_MAX;
    CHECK_BAD("expires_ms");
#undef CHECK_BAD
}

static void the_error_for_invalid_network_settings_names_the_field(void) {
    bh_network network = BH_INIT(bh_network);
    char name[257];
    memset(name, 'a', 256);
    name[256] = 0;
#define CHECK_BAD(word, given)                                                                                         \
    do {                                                                                                               \
        CHECK_REFUSED(word, bh_store_set_network(application, given, 20000, &error));                                  \
        CHECK_REFUSED(word, bh_store_set_network(application, given, BH_START, &error));                               \
        CHECK(error.ticket == NULL);                                                                                   \
    } while (0)
    CHECK_BAD("network is NULL", NULL);
    CHECK_BAD("name is NULL", &network);
    network.name = "";
    CHECK_BAD("name", &network);
    network.name = name;
    CHECK_BAD("name", &network);
    network.name = "a\nb";
    CHECK_BAD("name", &network);
    network.name = "Hotspot";
    network.metered = 3;
    CHECK_BAD("metered", &network);
    network.metered = BH_YES;
    network.month_starts_on = 29;
    CHECK_BAD("month_starts_on is 29", &network);
    network.month_starts_on = 257;
    CHECK_BAD("month_starts_on is 257", &network);
    network.month_starts_on = 1;
    network.struct_size = offsetof(bh_network, kind);
    CHECK_BAD("struct_size", &network);
#undef CHECK_BAD
}

static void the_error_for_an_invalid_activity_names_the_field(void) {
    bh_activity activity;
    bh_request request;
    CHECK_REFUSED("activity is NULL", bh_session_set_activity(session, NULL, 20000, &error));
    CHECK_REFUSED("identifier is NULL", bh_session_remove_activity(session, NULL, 20000, &error));
    CHECK_REFUSED("identifier is NULL", bh_session_remove_activity(session, NULL, BH_START, &error));
#define CHECK_BAD(word, ...)                                                                                           \
    do {                                                                                                               \
        activity = (bh_activity)BH_INIT(bh_activity);                                                                  \
        activity.identifier = "feed";                                                                                  \
        activity.interval_ms = 3600000;                                                                                \
        request = (bh_request)BH_INIT(bh_request);                                                                     \
        request.url = "http://127.0.0.1:9/feed";                                                                       \
        __VA_ARGS__;                                                                                                   \
        CHECK_REFUSED(word, bh_session_set_activity(session, &activity, 20000, &error));                               \
        CHECK_REFUSED(word, bh_session_set_activity(session, &activity, BH_START, &error));                            \
        CHECK(error.ticket == NULL);                                                                                   \
    } while (0)
    CHECK_BAD("identifier is NULL", activity.identifier = NULL);
    CHECK_BAD("identifier", activity.identifier = "");
    CHECK_BAD("interval_ms", activity.interval_ms = 999);
    CHECK_BAD("interval_ms", activity.interval_ms = UINT64_MAX);
    CHECK_BAD("tolerance_ms", activity.tolerance_ms = 3600000);
    CHECK_BAD("repeats", activity.repeats = 3);
    CHECK_BAD("quality_of_service", activity.quality_of_service = 4);
    CHECK_BAD("first_ms", activity.first_ms = -1);
    CHECK_BAD("struct_size", activity.struct_size = offsetof(bh_activity, url));
    CHECK_BAD("struct_size", activity.request = &request; request.struct_size = 0);
    CHECK_BAD("struct_size", activity.request = &request; request.struct_size = 16);
    CHECK_BAD("url", activity.request = &request; request.url = NULL);
    CHECK_BAD("idempotency_key", activity.request = &request; request.idempotency_key = "k");
    CHECK_BAD("BH_REQUEST_STARTS_SUSPENDED", activity.request = &request; request.flags = BH_REQUEST_STARTS_SUSPENDED);
    CHECK_BAD("latest_start_ms", activity.request = &request; request.latest_start_ms = 1);
    CHECK_BAD("BH_IF_EXISTS_REPLACE", activity.request = &request; request.destination = "/tmp/backhaul-nothing");
    CHECK_BAD("body", activity.request = &request; request.body_file = "/etc/passwd");
#undef CHECK_BAD
}

MAIN(APPLICATION_TEST(session_constraints_are_read_back_unchanged),
     APPLICATION_TEST(the_error_for_an_invalid_constraint_names_the_field),
     PRODUCER_TEST(start_times_and_expected_sizes_are_checked_and_read_back),
     APPLICATION_TEST(the_error_for_invalid_network_settings_names_the_field),
     PRODUCER_TEST(the_error_for_an_invalid_activity_names_the_field))
