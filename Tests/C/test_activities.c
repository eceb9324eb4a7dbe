/* A program that embeds the library stores settings and budgets of networks, and repeats work with activities. A
 * budget is the number of bytes that may be moved in a day or month. */
#include "fields.h"

static void network_settings_are_stored_until_they_are_removed(void) {
    bh_network network = BH_INIT(bh_network);
    bh_batch *batch = NULL;
    const bh_network *found = NULL;
    network.name = "Hotspot";
    network.metered = BH_NO;
    network.month_starts_on = 28;
    network.budget.daily = UINT64_C(1) << 40;
    network.budget.monthly = BH_BUDGET_NOTHING;
    for (int is_stored = 1; is_stored >= 0; is_stored--) {
        CHECK_STATUS(BH_OK, bh_store_set_network(application, &network, 20000, &error));
        CHECK_STATUS(BH_OK, bh_store_networks(application, 20000, &batch, &error));
        found = NULL;
        for (size_t i = 0; i < bh_batch_count(batch); i++)
            if (strcmp(bh_batch_network_at(batch, i)->name, "Hotspot") == 0) found = bh_batch_network_at(batch, i);
        CHECK((found != NULL) == is_stored);
        if (found) {
            CHECK(found->metered == BH_NO && found->month_starts_on == 28);
            CHECK(found->budget.daily == UINT64_C(1) << 40 && found->budget.monthly == BH_BUDGET_NOTHING);
            CHECK(!found->is_current && found->kind == 0 && found->used_this_month == 0);
            CHECK(found->day_ends_ms > 0 && found->month_ends_ms >= found->day_ends_ms);
        }
        bh_batch_release(batch);
        network = (bh_network)BH_INIT(bh_network);
        network.name = "Hotspot";
    }
}

static void activities_are_listed_changed_and_removed(void) {
    bh_request request = BH_INIT(bh_request);
    bh_activity activity = BH_INIT(bh_activity);
    bh_batch *batch = NULL;
    request.url = "http://127.0.0.1:9/feed";
    activity.identifier = "sync";
    activity.interval_ms = 3600000;
    activity.tolerance_ms = 60000;
    activity.repeats = BH_NO;
    activity.quality_of_service = BH_QUALITY_UTILITY;
    activity.first_ms = 4000000000000;
    activity.request = &request;
    CHECK_STATUS(BH_OK, bh_session_set_activity(session, &activity, 20000, &error));
    activity = (bh_activity)BH_INIT(bh_activity);
    activity.identifier = "feed";
    activity.interval_ms = 86400000;
    CHECK_STATUS(BH_OK, bh_session_set_activity(session, &activity, 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_activities(session, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 2);
    const bh_activity *feed = bh_batch_activity_at(batch, 0), *sync = bh_batch_activity_at(batch, 1);
    CHECK_TEXT("feed", feed->identifier);
    CHECK(feed->repeats == BH_YES && feed->quality_of_service == BH_QUALITY_BACKGROUND && feed->url == NULL);
    CHECK(feed->tolerance_ms == 43200000 && feed->next_ends_ms == feed->next_ms + 43200000);
    CHECK(feed->last_started_ms == 0 && feed->last_task == 0 && feed->request == NULL);
    CHECK_TEXT("sync", sync->identifier);
    CHECK(sync->repeats == BH_NO && sync->quality_of_service == BH_QUALITY_UTILITY);
    CHECK(sync->next_ms == 4000000000000 && sync->next_ends_ms == 4000000060000);
    CHECK_TEXT("http://127.0.0.1:9/feed", sync->url);
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_session_remove_activity(session, "sync", 20000, &error));
    CHECK_STATUS(BH_NOT_FOUND, bh_session_remove_activity(session, "sync", 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_activities(session, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1);
    bh_batch_release(batch);
}

static void an_activity_without_a_request_delivers_an_event(void) {
    bh_activity activity = BH_INIT(bh_activity);
    bh_batch *batch = NULL;
    activity.identifier = "feed";
    activity.interval_ms = 1000;
    activity.repeats = BH_NO;
    activity.quality_of_service = BH_QUALITY_USER_INITIATED;
    CHECK_STATUS(BH_OK, bh_session_set_activity(session, &activity, 20000, &error));
    CHECK_STATUS(BH_OK, bh_session_poll(session, 0, 10, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 1);
    const bh_event *event = bh_batch_event_at(batch, 0);
    CHECK(event->kind == BH_EVENT_ACTIVITY && event->task_id == 0 && event->url == NULL);
    CHECK_TEXT("feed", event->activity);
    CHECK_STATUS(BH_OK, bh_session_acknowledge(session, &event->id, 1, 20000, NULL, &error));
    bh_batch_release(batch);
    CHECK_STATUS(BH_OK, bh_store_holds(application, 20000, &batch, &error));
    CHECK(bh_batch_count(batch) == 0);
    bh_batch_release(batch);
}

MAIN(APPLICATION_TEST(network_settings_are_stored_until_they_are_removed),
     PRODUCER_TEST(activities_are_listed_changed_and_removed),
     CONSUMER_TEST(an_activity_without_a_request_delivers_an_event))
