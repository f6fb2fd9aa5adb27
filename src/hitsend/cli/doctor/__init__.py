"""`hitsend doctor`: checks the installation. Start at `command`."""
