"""How requests reach their servers: TLS, proxies, cookies, redirects, versions, what is measured."""
