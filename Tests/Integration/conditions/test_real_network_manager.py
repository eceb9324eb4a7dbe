"""Tests with the real NetworkManager. Other tests use that of python-dbusmock, which may send signals in another
order."""

import pytest

from backhaul import ConditionKind, Reason
from conditions.real_network_manager import RealNetworkManager
from conditions.stage import play
from conditions.world import Download, World

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


@play
def real_metered():
    """A connection becomes metered during a download, and then unmetered again."""
    with World("real-metered", bus=True) as world:
        manager = RealNetworkManager(world.bus, world.network, world.place)
        manager.connect("Ann's phone", metered="no")
        host = world.host(requires_unmetered=True, **QUICK)
        download = Download(world, host)
        download.receives(1_000_000)
        manager.set_metered("Ann's phone", "yes")
        stopped = download.waits_for(Reason.METERED)
        seen = {condition.kind: condition for condition in host.conditions()}
        manager.set_metered("Ann's phone", "no")
        download.succeeds()
        return stopped, [asked.offset for asked in download.requests()], seen, host.networks()


@play
def real_disconnected():
    """The device is disconnected during a download, and connected again after the engine has noticed."""
    with World("real-disconnected", bus=True) as world:
        manager = RealNetworkManager(world.bus, world.network, world.place)
        manager.connect("Home")
        host = world.host(requires_unmetered=True, request_timeout_ms=2_000, **QUICK)
        download = Download(world, host)
        download.receives(1_000_000)
        manager.disconnect()
        stopped = download.waits_for(Reason.CONNECTIVITY)
        manager.reconnect("Home")
        download.succeeds()
        return stopped, [asked.offset for asked in download.requests()]


@pytest.mark.parametrize("play", ["real_metered"], indirect=True)
def test_a_metered_connection_holds_a_transfer_until_it_is_unmetered(play):
    stopped, offsets, _, _ = play
    assert "Ann's phone" in stopped.reason_text and "NetworkManager" in stopped.reason_text
    assert offsets == [0, stopped.offset]


@pytest.mark.parametrize("play", ["real_metered"], indirect=True)
def test_usage_is_counted_by_connection_name_and_conditions_name_their_source(play):
    _, _, seen, networks = play
    [network] = [network for network in networks if network.used_today]
    assert network.name == "Ann's phone" and network.used_today == 4_000_000
    assert seen[ConditionKind.NETWORK].text.startswith("Ann's phone")
    assert "NetworkManager" in seen[ConditionKind.METERED].source


@pytest.mark.parametrize("play", ["real_disconnected"], indirect=True)
def test_a_disconnected_device_pauses_a_download_without_a_failure(play):
    stopped, offsets = play
    assert stopped.offset >= 1_000_000 and offsets == [0, stopped.offset]
