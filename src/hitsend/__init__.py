"""hitsend: from Send to the last word. Start reading at turn.py."""

__version__ = "0.1.0"
