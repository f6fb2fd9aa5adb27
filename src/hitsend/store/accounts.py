"""People, and the three ways they prove who they are: sessions, API keys, invites."""

from hitsend.store.database import Database
from hitsend.store.invites import Invites
from hitsend.store.keys import Keys
from hitsend.store.people import People
from hitsend.store.sessions import Sessions
from hitsend.store.users import Users


class Accounts(Users, People, Sessions, Keys, Invites):
    """One noun to the rest of hitsend, a file for each to read."""

    def __init__(self, database: Database) -> None:
        self._database = database
