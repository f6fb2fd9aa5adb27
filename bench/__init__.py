"""Benches that measure hitsend from outside: its HTTP interface, its command line, /proc.

They import nothing of hitsend, so that they can also measure older revisions and other servers.
Run from the repository's root: `python -m bench` for all, or one, `python -m bench.send`.
"""
