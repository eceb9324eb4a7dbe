"""Tests of how requests reach their servers: TLS, proxies, cookies, redirects, versions, and metrics."""
