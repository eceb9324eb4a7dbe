"""A fuzzer of HTTP/1.1 connections on which a server sends bytes that belong to no request. These bytes are called
junk.

The rule: no task ends with bytes that reached the client's socket before the task's request was sent. A run is a
transport, tasks, and the server's behaviour. ``runs`` generates runs from a seed. ``server`` is the server (or the
proxy) of a run and records what it does. ``worker`` enqueues the tasks. ``checker`` compares the end of each task with
the server's own response to the task's request.

Tasks are enqueued only after the client's kernel has acknowledged all bytes that the server sent (SIOCOUTQ). But some
junk may arrive after a request was sent. The server sends such junk when it accepts a connection, after a TLS 1.3
handshake, or in a separate send call while another task is running. No client can distinguish this junk from a
response. So a task that ends with this junk is no violation (``Record.tasks_in_race``).
"""
