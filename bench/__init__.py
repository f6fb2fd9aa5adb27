"""Measurements through the front door: HTTP in, clocks and /proc out.

Imports nothing of hitsend and nothing of hitsend imports it, so the same load runs against
any peer. Run from the repository's root: `python -m bench.relay`, `.delivery`, `.engine`, `.start`.
"""
