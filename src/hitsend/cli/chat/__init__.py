"""`hitsend chat`: a conversation in the terminal. `command` begins it."""
