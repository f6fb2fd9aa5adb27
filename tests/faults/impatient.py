"""`hitsend`, with little patience for clients that do not read."""

from hitsend.cli import main
from hitsend.server.connection import Connection

Connection.stuck_s = 1.5

if __name__ == "__main__":
    main()
