"""Tests with the real NetworkManager. Other tests use the fake NetworkManager of python-dbusmock, which may send
signals in another order."""

import pytest

from backhaul import ConditionKind, Reason
from conditions.environment import Download, Environment
from conditions.real_network_manager import RealNetworkManager
from conditions.simulations import simulation

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


@simulation
def real_metered():
    """A connection becomes metered during a download, and then unmetered again."""
    with Environment("real-metered", bus=True) as env:
        manager = RealNetworkManager(env.bus, env.network, env.place)
        manager.connect("Ann's phone", metered="no")
        host = env.host(requires_unmetered=True, **QUICK)
        download = Download(env, host)
        download.wait_for_bytes(1_000_000)
        manager.set_metered("Ann's phone", "yes")
        stopped = download.wait_for_reason(Reason.METERED)
        seen = {condition.kind: condition for condition in host.conditions()}
        manager.set_metered("Ann's phone", "no")
        download.wait_for_success()
        return stopped, [asked.offset for asked in download.requests()], seen, host.networks()


@simulation
def real_disconnected():
    """The device is disconnected during a download, and connected again after the engine has noticed the loss."""
    with Environment("real-disconnected", bus=True) as env:
        manager = RealNetworkManager(env.bus, env.network, env.place)
        manager.connect("Home")
        host = env.host(requires_unmetered=True, request_timeout_ms=15_000, **QUICK)
        download = Download(env, host)
        download.wait_for_bytes(1_000_000)
        manager.disconnect()
        stopped = download.wait_for_reason(Reason.CONNECTIVITY)
        manager.reconnect("Home")
        download.wait_for_success()
        return stopped, [asked.offset for asked in download.requests()]


@pytest.mark.parametrize("simulation", ["real_metered"], indirect=True)
def test_a_transfer_waits_while_its_connection_is_metered(simulation):
    stopped, offsets, _, _ = simulation
    assert "Ann's phone" in stopped.reason_text and "NetworkManager" in stopped.reason_text
    assert offsets == [0, stopped.offset]


@pytest.mark.parametrize("simulation", ["real_metered"], indirect=True)
def test_the_engine_counts_the_bytes_of_a_connection_and_names_the_source_of_each_condition(simulation):
    _, _, seen, networks = simulation
    [network] = [network for network in networks if network.used_today]
    assert network.name == "Ann's phone" and network.used_today == 4_000_000
    assert seen[ConditionKind.NETWORK].text.startswith("Ann's phone")
    assert "NetworkManager" in seen[ConditionKind.METERED].source


@pytest.mark.parametrize("simulation", ["real_disconnected"], indirect=True)
def test_a_download_waits_and_does_not_fail_while_its_device_is_disconnected(simulation):
    stopped, offsets = simulation
    assert stopped.offset >= 1_000_000 and offsets == [0, stopped.offset]
