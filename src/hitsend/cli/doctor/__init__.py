"""`hitsend doctor`: what is right here, what is wrong. `command` begins it."""
