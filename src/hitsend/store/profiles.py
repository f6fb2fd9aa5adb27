"""Profiles: a person's custom instructions, and whether memory is on."""

from msgspec import structs
from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects.sqlite import insert

from hitsend.store.context_schema import profiles
from hitsend.store.database import Database, reads, writes
from hitsend.store.prepared import Prepared
from hitsend.store.rows import Profile
from hitsend.store.schema import conversations

PROFILE_COLUMNS = tuple(profiles.c[name] for name in Profile.__struct_fields__)

FIND_PROFILE = Prepared(select(*PROFILE_COLUMNS).where(profiles.c.user_id == bindparam("user_id")))
FIND_TEMPORARY = Prepared(
    select(conversations.c.id).where(
        conversations.c.id == bindparam("conversation_id"),
        conversations.c.user_id == bindparam("user_id"),
        conversations.c.is_temporary,
    )
)


class Profiles:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def get(self, connection: Connection, user_id: str) -> Profile:
        """Returns the defaults if the person has saved nothing."""
        return read_profile(connection, user_id)

    @reads
    def in_conversation(
        self, connection: Connection, user_id: str, conversation_id: str, *, has_memory: bool = True
    ) -> Profile:
        """Returns the profile with memory turned off if the conversation is temporary, or if
        `has_memory` is false."""
        profile = read_profile(connection, user_id)
        place = {"conversation_id": conversation_id, "user_id": user_id}
        if has_memory and FIND_TEMPORARY.first(connection, **place) is None:
            return profile
        return structs.replace(profile, uses_memory=False, suggests_memories=False)

    async def set(self, user_id: str, profile: Profile) -> None:
        await self.change(user_id, **structs.asdict(profile))

    @writes
    def change(self, connection: Connection, /, user_id: str, **fields: object) -> Profile:
        """Changes the given fields."""
        values = {**structs.asdict(Profile()), **fields, "updated_at": self._database.now()}
        changed = {name: values[name] for name in (*fields, "updated_at")}
        row = insert(profiles).values(user_id=user_id, **values)
        upsert = row.on_conflict_do_update(["user_id"], set_=changed)
        return Profile(*connection.execute(upsert.returning(*PROFILE_COLUMNS)).one())


def read_profile(connection: Connection, user_id: str) -> Profile:
    row = FIND_PROFILE.first(connection, user_id=user_id)
    return Profile(*row) if row else Profile()
