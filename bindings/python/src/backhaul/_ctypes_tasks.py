"""The structs of include/backhaul.h that say how tasks stand, and which are meant, one to one. No logic."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from ._ctypes_transfers import bh_policy


class bh_progress(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("task_id", c_uint64),
        ("state", c_int32),
        ("reason", c_int32),
        ("offset", c_uint64),
        ("size", c_uint64),
        ("bytes_per_second", c_uint64),
        ("body_sent", c_uint64),
        ("body_size", c_uint64),
    ]


class bh_task(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("round", c_uint64),
        ("state", c_int32),
        ("reason", c_int32),
        ("reason_text", c_char_p),
        ("next_attempt_ms", c_int64),
        ("url", c_char_p),
        ("destination", c_char_p),
        ("idempotency_key", c_char_p),
        ("user_data", c_void_p),
        ("user_data_size", c_size_t),
        ("priority", c_int32),
        ("status", c_int32),
        ("error_message", c_char_p),
        ("http_status", c_int32),
        ("attempts", c_uint32),
        ("offset", c_uint64),
        ("size", c_uint64),
        ("bytes_per_second", c_uint64),
        ("enqueued_ms", c_int64),
        ("kind", c_int32),
        ("reserved", c_int32),
        ("group", c_char_p),
        ("body_sent", c_uint64),
        ("body_size", c_uint64),
        ("ended_ms", c_int64),
        ("path", c_char_p),
        ("earliest_start_ms", c_int64),
        ("latest_start_ms", c_int64),
        ("expected_bytes_received", c_uint64),
        ("expected_bytes_sent", c_uint64),
        ("constraints", POINTER(bh_policy)),
    ]


class bh_task_selection(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("ids", POINTER(c_uint64)),
        ("id_count", c_size_t),
        ("states", c_uint32),
        ("group", c_char_p),
    ]
