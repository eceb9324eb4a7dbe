"""Networks and activities: their settings are stored, and a due activity starts."""

from datetime import datetime, timedelta, UTC

import pytest

from backhaul import (
    BUDGET_NOTHING,
    Activity,
    Budget,
    EventKind,
    Network,
    NotFound,
    Policy,
    QualityOfService,
    Request,
    RetryPolicy,
    Status,
)

URL = "http://127.0.0.1:9/never"
LATER = datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC)


@pytest.mark.both_hostings
def test_network_settings_are_stored_until_they_are_removed(host):
    one = host()
    one.set_network(Network("Hotspot", metered=True, month_starts_on=20,
                            budget=Budget(daily=5, monthly=BUDGET_NOTHING)))
    one.kill_with_engine()
    again = host()
    hotspot = {network.name: network for network in again.networks()}["Hotspot"]
    assert (hotspot.metered, hotspot.month_starts_on) == (True, 20)
    assert hotspot.budget == Budget(daily=5, monthly=BUDGET_NOTHING)
    assert (hotspot.used_today, hotspot.used_this_month, hotspot.is_current, hotspot.kind) == (0, 0, False, None)
    assert hotspot.day_ends <= hotspot.month_ends
    again.set_network(Network("Hotspot"))
    assert "Hotspot" not in {network.name for network in again.networks()}


@pytest.mark.both_hostings
def test_activities_can_be_listed_and_changed_and_removed(host, one):
    one.set_activity(Activity("sync", 3_600_000, 60_000, repeats=False, quality_of_service="utility", first=LATER,
                              request=Request(URL)))
    one.set_activity(Activity("feed", 86_400_000))
    one.kill_with_engine()
    again = host()
    again.attach()
    feed, sync = again.activities()
    assert (feed.identifier, feed.interval_ms, feed.tolerance_ms) == ("feed", 86_400_000, 43_200_000)
    assert (feed.repeats, feed.quality_of_service, feed.url) == (True, QualityOfService.BACKGROUND, None)
    assert feed.next_ends - feed.next == timedelta(hours=12)
    assert (feed.last_started, feed.last_task) == (None, None)
    assert (sync.next, sync.next_ends, sync.url) == (LATER, LATER + timedelta(minutes=1), URL)
    assert (sync.repeats, sync.quality_of_service) == (False, QualityOfService.UTILITY)
    again.set_activity(Activity("feed", 86_400_000, 1_000))
    assert again.activities()[0].next == feed.next
    again.remove_activity("sync")
    assert [activity.identifier for activity in again.activities()] == ["feed"]
    with pytest.raises(NotFound):
        again.remove_activity("sync")


def test_an_activity_without_a_request_causes_an_event(one):
    one.set_activity(Activity("feed", 1_000, 1, repeats=False, quality_of_service="user_initiated"))
    event = one.wait_for(1)[0]
    assert (event.kind, event.activity, event.task_id) == (EventKind.ACTIVITY, "feed", 0)
    assert one.activities() == []


def test_an_activity_with_a_request_enqueues_its_task(one):
    one.set_activity(Activity("feed", 1_000, 1, repeats=False, quality_of_service="user_initiated",
                              request=Request(URL, policy=Policy(retry=RetryPolicy(maximum_attempts=1)))))
    event = one.wait_for(1)[0]
    assert (event.kind, event.url, event.status) == (EventKind.TASK_ENDED, URL, Status.CONNECTION_FAILED)
