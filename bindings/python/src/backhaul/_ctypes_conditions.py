"""The structs of include/backhaul.h about conditions, waits, networks and activities, one to one. No logic."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64

from ._ctypes_transfers import bh_request


class bh_wait(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("reason", c_int32),
        ("reserved", c_int32),
        ("reason_text", c_char_p),
        ("began_ms", c_int64),
        ("ended_ms", c_int64),
    ]


class bh_condition(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("is_known", c_int32),
        ("value", c_int64),
        ("name", c_char_p),
        ("text", c_char_p),
        ("source", c_char_p),
        ("since_ms", c_int64),
    ]


class bh_hold(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("application", c_char_p),
        ("session", c_char_p),
        ("origin", c_char_p),
        ("reason", c_int32),
        ("reserved", c_int32),
        ("reason_text", c_char_p),
        ("began_ms", c_int64),
        ("next_look_ms", c_int64),
        ("tasks", c_uint64),
    ]


class bh_network(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("metered", c_int32),
        ("month_starts_on", c_uint32),
        ("daily_budget", c_uint64),
        ("monthly_budget", c_uint64),
        ("kind", c_int32),
        ("is_current", c_int32),
        ("used_today", c_uint64),
        ("used_this_month", c_uint64),
        ("day_ends_ms", c_int64),
        ("month_ends_ms", c_int64),
    ]


class bh_activity(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("interval_ms", c_uint64),
        ("tolerance_ms", c_uint64),
        ("repeats", c_int32),
        ("quality_of_service", c_int32),
        ("request", POINTER(bh_request)),
        ("first_ms", c_int64),
        ("next_ms", c_int64),
        ("next_ends_ms", c_int64),
        ("last_started_ms", c_int64),
        ("last_task", c_uint64),
        ("url", c_char_p),
    ]
