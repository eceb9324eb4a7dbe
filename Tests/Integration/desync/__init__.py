"""A fuzzer of HTTP/1.1 connections on which a server sends bytes that belong to no request. These bytes are called
junk.

The rule: no task ends with bytes that reached the client's socket before the task's request was sent. A run is a
transport, tasks, and the server's behaviour. ``runs`` generates runs from a seed. ``server`` is the server (or the
proxy) of a run and records what it does. ``worker`` enqueues the tasks. ``checker`` compares the end of each task with
the server's own response to its request.

Tasks are enqueued only after the client's kernel has acknowledged all sent bytes (SIOCOUTQ). Junk may also arrive
after a request was sent. No client can distinguish such junk from a response, so it is no violation. This applies to
junk at accept, to junk after a TLS 1.3 handshake, and to junk in its own send call while another task is running
(``Record.tasks_in_race``).
"""
