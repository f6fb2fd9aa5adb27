"""The store: one SQLite file, with an attribute for each kind of thing in it."""

import secrets
import time
from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.store.accounts import Accounts
from hitsend.store.audit import Audit
from hitsend.store.backup_records import BackupRecords
from hitsend.store.conversations import Conversations
from hitsend.store.database import Clock, Database, Sync, writes
from hitsend.store.exchanges import Exchanges
from hitsend.store.experiments import Experiments
from hitsend.store.feedback import AnswerFeedback
from hitsend.store.first_account import FirstAccountSetup
from hitsend.store.folders import Folders
from hitsend.store.groups import Groups
from hitsend.store.imports import Imports
from hitsend.store.ledger import Ledger
from hitsend.store.limits import Limits
from hitsend.store.log_packing import LogPacking
from hitsend.store.mcp_servers import McpServers
from hitsend.store.mcp_sign_ins import McpSignIns
from hitsend.store.mcp_tools import McpTools
from hitsend.store.memories import Memories
from hitsend.store.migrate import migrate
from hitsend.store.password_resets import PasswordResets
from hitsend.store.past_messages import PastMessages
from hitsend.store.prices import Prices
from hitsend.store.profiles import Profiles
from hitsend.store.prompts import Prompts
from hitsend.store.repeated_turns import RepeatedTurns
from hitsend.store.reviews import Reviews
from hitsend.store.safety_policies import SafetyPolicies
from hitsend.store.schema import meta
from hitsend.store.screenings import Screenings
from hitsend.store.search_index import SearchIndex
from hitsend.store.second_factors import SecondFactorStore
from hitsend.store.shares import Shares
from hitsend.store.storage import Storage
from hitsend.store.summaries import Summaries
from hitsend.store.tool_files import ToolFiles
from hitsend.store.tool_permissions import ToolPermissions
from hitsend.store.turns import Turns
from hitsend.store.usage import UsageSums


class Store:
    """Safe to use from many tasks of one event loop, while other processes use the same file."""

    accounts: Accounts
    second_factors: SecondFactorStore
    conversations: Conversations
    feedback: AnswerFeedback
    folders: Folders
    imports: Imports
    search_index: SearchIndex
    first_account: FirstAccountSetup
    shares: Shares
    turns: Turns
    ledger: Ledger
    limits: Limits
    groups: Groups
    mcp_servers: McpServers
    mcp_sign_ins: McpSignIns
    mcp_tools: McpTools
    prices: Prices
    prompts: Prompts
    experiments: Experiments
    audit: Audit
    backups: BackupRecords
    password_resets: PasswordResets
    profiles: Profiles
    memories: Memories
    exchanges: Exchanges
    past_messages: PastMessages
    repeated_turns: RepeatedTurns
    summaries: Summaries
    tool_files: ToolFiles
    tool_permissions: ToolPermissions
    usage: UsageSums
    safety_policies: SafetyPolicies
    screenings: Screenings
    reviews: Reviews

    @classmethod
    async def open(cls, path: Path, sync: Sync = "normal", *, now: Clock = time.time) -> "Store":
        """Creates the file and its folder if missing, and migrates the schema. Raises StoreDown."""
        database = Database(path, sync, now)
        async with AsyncExitStack() as on_failure:
            on_failure.push_async_callback(database.close)
            await database.open()
            await migrate(database)
            on_failure.pop_all()
        return cls(database)

    def __init__(self, database: Database) -> None:
        self._database = database
        self.accounts = Accounts(database)
        self.second_factors = SecondFactorStore(database)
        self.conversations = Conversations(database)
        self.feedback = AnswerFeedback(database)
        self.folders = Folders(database)
        self.imports = Imports(database)
        self.search_index = SearchIndex(database)
        self.first_account = FirstAccountSetup(database)
        self.shares = Shares(database)
        self.limits = Limits(database)
        self.ledger = Ledger(database, self.limits)
        self.groups = Groups(database, self.limits)
        self.mcp_servers = McpServers(database)
        self.mcp_sign_ins = McpSignIns(database)
        self.mcp_tools = McpTools(database)
        self.prices = Prices(database)
        self.prompts = Prompts(database)
        self.experiments = Experiments(database, self.prompts)
        self.audit = Audit(database)
        self.backups = BackupRecords(database)
        self.password_resets = PasswordResets(database)
        self.profiles = Profiles(database)
        self.memories = Memories(database)
        self.exchanges = Exchanges(database)
        self.safety_policies = SafetyPolicies(database)
        self.screenings = Screenings(database)
        self.reviews = Reviews(database)
        self.past_messages = PastMessages(database, self.exchanges)
        self.repeated_turns = RepeatedTurns(database)
        self.summaries = Summaries(database)
        self.tool_files = ToolFiles(database)
        self.tool_permissions = ToolPermissions(database)
        self.usage = UsageSums(database)
        self.turns = Turns(database, self.ledger)
        self.log_packing = LogPacking(database)
        self.storage = Storage(database)

    async def close(self) -> None:
        """Waits for the current write to finish."""
        await self._database.close()

    @writes
    def check(self, connection: Connection) -> None:
        """Raises StoreDown when the file cannot be written, which only a write can find out."""
        row = insert(meta).values(key="checked_at", value=str(self._database.now()).encode())
        connection.execute(row.on_conflict_do_update(["key"], set_={"value": row.excluded.value}))

    @writes
    def secret(self, connection: Connection, name: str) -> bytes:
        """Returns 32 random bytes, created once per name."""
        key = f"secret:{name}"
        row = insert(meta).values(key=key, value=secrets.token_bytes(32))
        connection.execute(row.on_conflict_do_nothing())
        return connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar_one()
