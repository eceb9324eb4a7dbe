"""A fuzzer of HTTP/1.1 connections on which bytes arrive that no request asked for.

The rule: no task ends with bytes that had reached our socket before its request was sent. ``runs`` draws runs as plain
values from a seed; ``server`` plays the server's side (or the proxy's) and records what it did; ``lane`` enqueues the
tasks; ``checker`` compares the end of each task with the server's own response to its request.

A task is enqueued only after the client's kernel has acknowledged all that was sent before (SIOCOUTQ). Junk that may
have crossed a request on its way is no violation, since no client can tell it from a response: that is junk at accept,
behind a TLS 1.3 handshake, and in a call of its own while another task is under way (``Record.racing``).
"""
