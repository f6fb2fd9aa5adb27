"""The network edge: connections, proxies, compression and static files."""
