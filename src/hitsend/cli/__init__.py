"""The `hitsend` command line. One module per command; `app` holds them together."""

from hitsend.cli.app import main

__all__ = ["main"]
