"""`hitsend`, with short timeouts for clients that do not read."""

from hitsend.cli import main
from hitsend.server.edge.connection import Connection

Connection.stuck_s = 1.5

if __name__ == "__main__":
    main()
