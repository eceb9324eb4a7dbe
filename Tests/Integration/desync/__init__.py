"""A fuzzer of HTTP/1.1 connections on which bytes arrive that belong to no request ("junk").

The rule: no task ends with bytes that had reached our socket before its request was sent. ``runs`` generates runs as
plain values from a seed. ``server`` plays the server (or the proxy) and records what it did. ``lane`` enqueues the
tasks. ``checker`` compares the end of each task with the server's own response to its request.

A task is enqueued only after the client's kernel has acknowledged all sent bytes (SIOCOUTQ). Junk that may have
crossed a request on its way is no violation, since no client can distinguish it from a response. That is junk at
accept, junk after a TLS 1.3 handshake, and junk in its own send call while another task is running
(``Record.racing``).
"""
