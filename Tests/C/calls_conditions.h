/* The calls about conditions, networks and activities. A part of calls.h, which has the macros. */

static inline bh_network some_network(void) {
    bh_network network = BH_NETWORK_INIT;
    network.name = "Hotspot";
    network.metered = BH_YES;
    return network;
}

static inline bh_activity some_activity(void) {
    bh_activity activity = BH_ACTIVITY_INIT;
    activity.identifier = "feed";
    activity.interval_ms = 3600000;
    return activity;
}

CALL_OUT(bh_application_conditions, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_application_conditions_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_application_holds, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_application_holds_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL_OUT(bh_application_networks, APPLICATION, bh_application, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_application_networks_start, APPLICATION, bh_application, bh_ticket, SELF_OUT)
CALL(bh_application_set_network, APPLICATION, bh_application, bh_network network = some_network();
     return bh_application_set_network(self, &network, 5000, error);)
CALL(bh_application_set_network_start, APPLICATION, bh_application, bh_network network = some_network();
     bh_ticket *ticket = UNTOUCHED;
     bh_status status = bh_application_set_network_start(self, &network, &ticket, error);
     CHECK(status == BH_OK || ticket == UNTOUCHED); return status;)
CALL_OUT(bh_session_activities, SESSION, bh_session, bh_batch, 5000, SELF_OUT)
CALL_OUT(bh_session_activities_start, SESSION, bh_session, bh_ticket, SELF_OUT)
CALL(bh_session_set_activity, SESSION, bh_session, bh_activity activity = some_activity();
     return bh_session_set_activity(self, &activity, 5000, error);)
CALL(bh_session_set_activity_start, SESSION, bh_session, bh_activity activity = some_activity();
     bh_ticket *ticket = UNTOUCHED;
     bh_status status = bh_session_set_activity_start(self, &activity, &ticket, error);
     CHECK(status == BH_OK || ticket == UNTOUCHED); return status;)
CALL(bh_session_remove_activity, SESSION, bh_session, return bh_session_remove_activity(self, "feed", 5000, error);)
CALL_OUT(bh_session_remove_activity_start, SESSION, bh_session, bh_ticket, "feed", SELF_OUT)
CALL_OUT(bh_task_waits, SESSION, bh_session, bh_batch, 1, 5000, SELF_OUT)
CALL_OUT(bh_task_waits_start, SESSION, bh_session, bh_ticket, 1, SELF_OUT)
CALL(bh_batch_wait_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_wait_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_condition_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_condition_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_hold_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_hold_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_network_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_network_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)
CALL(bh_batch_activity_at, BATCH, bh_batch, (void)error; CHECK(bh_batch_activity_at(self, 0) == NULL);
     return BH_INVALID_HANDLE;)

#define CONDITION_CALLS                                                                                                \
    ENTRY(bh_application_conditions, APPLICATION), ENTRY(bh_application_conditions_start, APPLICATION),                \
    ENTRY(bh_application_holds, APPLICATION), ENTRY(bh_application_holds_start, APPLICATION),                          \
    ENTRY(bh_application_networks, APPLICATION), ENTRY(bh_application_networks_start, APPLICATION),                    \
    ENTRY(bh_application_set_network, APPLICATION), ENTRY(bh_application_set_network_start, APPLICATION),              \
    ENTRY(bh_session_activities, SESSION), ENTRY(bh_session_activities_start, SESSION),                                \
    ENTRY(bh_session_set_activity, SESSION), ENTRY(bh_session_set_activity_start, SESSION),                            \
    ENTRY(bh_session_remove_activity, SESSION), ENTRY(bh_session_remove_activity_start, SESSION),                      \
    ENTRY(bh_task_waits, SESSION), ENTRY(bh_task_waits_start, SESSION), ENTRY(bh_batch_wait_at, BATCH),                \
    ENTRY(bh_batch_condition_at, BATCH), ENTRY(bh_batch_hold_at, BATCH), ENTRY(bh_batch_network_at, BATCH),            \
    ENTRY(bh_batch_activity_at, BATCH)
