"""A fuzzer of HTTP/1.1 connections on which bytes arrive that no request asked for."""
