/* The calls about conditions, networks and activities. The file calls.h defines the macros and includes this file. */

static inline bh_network some_network(void) {
    bh_network network = BH_INIT(bh_network);
    network.name = "Hotspot";
    network.metered = BH_YES;
    return network;
}

static inline bh_activity some_activity(void) {
    bh_activity activity = BH_INIT(bh_activity);
    activity.identifier = "feed";
    activity.interval_ms = 3600000;
    return activity;
}

CALL_BATCH(bh_store_conditions, bh_application, timeout_ms)
CALL_BATCH(bh_store_holds, bh_application, timeout_ms)
CALL_BATCH(bh_store_networks, bh_application, timeout_ms)
CALL(bh_store_set_network, bh_application, bh_network network = some_network();
     return bh_store_set_network(self, &network, timeout_ms, error);)
CALL_BATCH(bh_session_activities, bh_session, timeout_ms)
CALL(bh_session_set_activity, bh_session, bh_activity activity = some_activity();
     return bh_session_set_activity(self, &activity, timeout_ms, error);)
CALL(bh_session_remove_activity, bh_session, return bh_session_remove_activity(self, "feed", timeout_ms, error);)
CALL_BATCH(bh_task_waits, bh_session, 1, timeout_ms)
CALL_BATCH(bh_tasks_waits, bh_session, NULL, 0, timeout_ms)

#define CONDITION_CALLS                                                                                                \
    ENTRY(bh_store_conditions, APPLICATION, STARTS), ENTRY(bh_store_holds, APPLICATION, STARTS),                       \
        ENTRY(bh_store_networks, APPLICATION, STARTS), ENTRY(bh_store_set_network, APPLICATION, STARTS),               \
        ENTRY(bh_session_activities, SESSION, STARTS), ENTRY(bh_session_set_activity, SESSION, STARTS),                \
        ENTRY(bh_session_remove_activity, SESSION, STARTS), ENTRY(bh_task_waits, SESSION, STARTS),                     \
        ENTRY(bh_tasks_waits, SESSION, STARTS)
