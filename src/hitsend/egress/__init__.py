"""Requests to addresses that people, models or strangers choose: web pages, tool servers.

An `Egress` makes HTTP clients that reach the public internet only: not this machine, not the
network around it, not the metadata of a cloud, unless an administrator trusts them. It knows
nothing of tools. `destinations.py` decides, `transport.py` enforces it for each connection and
each redirect, `client.py` is what others use.
"""

from hitsend.egress.client import CONNECT_TIMEOUT_S, Egress, Limits, describe_failure, open_egress
from hitsend.egress.destinations import Trusted, parse_trusted, parse_url

__all__ = [
    "CONNECT_TIMEOUT_S",
    "Egress",
    "Limits",
    "Trusted",
    "describe_failure",
    "open_egress",
    "parse_trusted",
    "parse_url",
]
