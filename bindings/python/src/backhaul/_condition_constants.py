"""The numbers of include/backhaul.h that say what tasks wait for and what the system offers, as enumerations."""

from __future__ import annotations

from enum import IntFlag

from ._open_enum import OpenEnum


class Reason(OpenEnum):
    """Why a task is not moving."""

    NONE = 0
    TURN = 1
    SUSPENDED = 2
    RETRY = 3
    CONNECTING = 4
    STALLED = 5
    FINISHING = 6
    DISK_FULL = 7
    #: Until its challenge is answered.
    CREDENTIAL = 8
    #: Until there is a route to the server: woken by changes of the network.
    CONNECTIVITY = 9
    #: Its bytes per second are used up for the moment.
    RATE = 10
    #: ``requires_external_power``, and the machine runs on battery.
    POWER = 11
    #: Until the battery has ``minimum_battery_percent``, or there is external power.
    BATTERY = 12
    #: The machine is hotter than ``maximum_thermal_state``.
    HEAT = 13
    #: Processor, disk or memory are under more pressure than the limits allow.
    PRESSURE = 14
    #: ``requires_unmetered``, and the network is metered.
    METERED = 15
    #: The network is of a kind that is not among ``networks``.
    NETWORK = 16
    #: Less than ``minimum_bytes_per_second`` came; a probe is made at ``next_attempt``.
    THROUGHPUT = 17
    #: Until ``earliest_start``.
    EARLIEST_START = 18
    #: Until ``quiet_hours`` are over, at ``next_attempt``.
    QUIET_HOURS = 19
    #: The bytes of the day or month are used up on this network, until ``next_attempt``.
    BUDGET = 20
    #: The machine is about to sleep, or sleeps.
    SLEEP = 21
    #: All servers fail in the same way: a portal asks for a login, or the uplink is dead.
    PORTAL = 22


class Preset(OpenEnum):
    """What a task waits for when it can, in the words that people have for it. A field that is set beside it takes the
    place of the preset's. What a preset asks for are wishes: they are given up at ``latest_start``. What a field asks
    for holds always."""

    #: Nothing.
    DEFAULT = 0
    #: External power, an unmetered network, ThermalState.FAIR at most, 10,000 bytes per second.
    DISCRETIONARY = 1
    #: As DISCRETIONARY, and ``quiet_hours`` "07:00-23:00".
    OVERNIGHT = 2


class ThermalState(OpenEnum):
    """How hot the machine is, by the trip points of its thermal zones."""

    NOMINAL = 1
    #: Above a passive or active trip point, or a fan or limiter is at work.
    FAIR = 2
    #: Above a hot trip point, or within 10 degrees of a critical one.
    SERIOUS = 3
    #: Within 3 degrees of a critical trip point, or above it: nothing is transferred.
    CRITICAL = 4


class NetworkKind(IntFlag):
    """Kinds of network: that of the default route."""

    ETHERNET = 1
    WIFI = 2
    CELLULAR = 4
    BLUETOOTH = 8
    #: A VPN whose own way is not known.
    TUNNEL = 16
    OTHER = 32


class ConditionKind(OpenEnum):
    """What a condition is about, and what its value counts."""

    #: 1 or 0.
    EXTERNAL_POWER = 1
    #: Percent of the charge of all batteries together.
    BATTERY = 2
    #: A ThermalState.
    THERMAL_STATE = 3
    #: Percent of the last ten seconds in which some process waited for a processor.
    CPU_PRESSURE = 4
    IO_PRESSURE = 5
    MEMORY_PRESSURE = 6
    #: A NetworkKind; 0: there is no default route.
    NETWORK = 7
    #: 1 or 0.
    METERED = 8
    #: A Connectivity.
    CONNECTIVITY = 9
    #: 1: the machine is about to sleep.
    SLEEP = 10
    #: Bytes per second of all transfers together, over the last seconds.
    THROUGHPUT = 11


class Connectivity(OpenEnum):
    """How far the network leads."""

    #: No default route.
    NONE = 1
    #: A portal asks for a login.
    PORTAL = 2
    #: The uplink is dead.
    LIMITED = 3
    FULL = 4


class QualityOfService(OpenEnum):
    """What an activity waits for within its window."""

    #: As Preset.DISCRETIONARY. The default.
    BACKGROUND = 1
    #: An unmetered network.
    UTILITY = 2
    #: Nothing: it starts when its window opens.
    USER_INITIATED = 3
