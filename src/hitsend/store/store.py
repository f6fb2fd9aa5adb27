"""The store as a whole: a file, and the nouns kept in it."""

import secrets
import time
from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from hitsend.store.accounts import Accounts
from hitsend.store.audit import Audit
from hitsend.store.conversations import Conversations
from hitsend.store.database import Clock, Database, Sync
from hitsend.store.exchanges import Exchanges
from hitsend.store.experiments import Experiments
from hitsend.store.feedback import AnswerFeedback
from hitsend.store.folders import Folders
from hitsend.store.groups import Groups
from hitsend.store.imports import Imports
from hitsend.store.ledger import Ledger
from hitsend.store.limits import Limits
from hitsend.store.memories import Memories
from hitsend.store.migrate import migrate
from hitsend.store.prices import Prices
from hitsend.store.profiles import Profiles
from hitsend.store.prompts import Prompts
from hitsend.store.schema import meta
from hitsend.store.search_index import SearchIndex
from hitsend.store.shares import Shares
from hitsend.store.summaries import Summaries
from hitsend.store.turns import Turns
from hitsend.store.usage import UsageSums


class Store:
    """Safe to use from any number of tasks of one event loop, and of other processes."""

    accounts: Accounts
    conversations: Conversations
    feedback: AnswerFeedback
    folders: Folders
    imports: Imports
    search_index: SearchIndex
    shares: Shares
    turns: Turns
    ledger: Ledger
    limits: Limits
    groups: Groups
    prices: Prices
    prompts: Prompts
    experiments: Experiments
    audit: Audit
    profiles: Profiles
    memories: Memories
    exchanges: Exchanges
    summaries: Summaries
    usage: UsageSums

    @classmethod
    async def open(cls, path: Path, sync: Sync = "normal", *, now: Clock = time.time) -> "Store":
        """Makes the file and its folder where they are not there. Raises StoreDown."""
        async with AsyncExitStack() as unless_ready:
            database = Database(path, sync, now)
            unless_ready.push_async_callback(database.close)
            await database.open()
            await migrate(database)
            unless_ready.pop_all()
        return cls(database)

    def __init__(self, database: Database) -> None:
        self._database = database
        self.accounts = Accounts(database)
        self.conversations = Conversations(database)
        self.feedback = AnswerFeedback(database)
        self.folders = Folders(database)
        self.imports = Imports(database)
        self.search_index = SearchIndex(database)
        self.shares = Shares(database)
        self.limits = Limits(database)
        self.ledger = Ledger(database, self.limits)
        self.groups = Groups(database, self.limits)
        self.prices = Prices(database)
        self.prompts = Prompts(database)
        self.experiments = Experiments(database, self.prompts)
        self.audit = Audit(database)
        self.profiles = Profiles(database)
        self.memories = Memories(database)
        self.exchanges = Exchanges(database)
        self.summaries = Summaries(database)
        self.usage = UsageSums(database)
        self.turns = Turns(database, self.ledger)

    async def close(self) -> None:
        """Waits for the write under way."""
        await self._database.close()

    async def check(self) -> None:
        """Raises StoreDown when nothing can be written. Only a write can tell."""
        checked = insert(meta).values(key="checked_at", value=str(self._database.now()).encode())
        changed = {"value": checked.excluded.value}
        async with self._database.write() as connection:
            await connection.execute(checked.on_conflict_do_update(["key"], set_=changed))

    async def secret(self, name: str) -> bytes:
        """32 bytes of chance, the same ones each time."""
        made = insert(meta).values(key=f"secret:{name}", value=secrets.token_bytes(32))
        kept = select(meta.c.value).where(meta.c.key == f"secret:{name}")
        async with self._database.write() as connection:
            await connection.execute(made.on_conflict_do_nothing())
            return (await connection.execute(kept)).scalar_one()
