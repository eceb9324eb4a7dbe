"""Tests of how requests reach their servers: TLS, proxies, cookies, redirects, HTTP versions, and metrics."""
