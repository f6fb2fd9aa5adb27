"""What people tell every conversation of theirs, and what they allow to be remembered."""

from msgspec import structs
from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.store.context_schema import profiles
from hitsend.store.database import Database
from hitsend.store.rows import Profile
from hitsend.store.schema import conversations

PROFILE = tuple(profiles.c[name] for name in Profile.__struct_fields__)


class Profiles:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, user_id: str) -> Profile:
        """Who has said nothing yet has nothing but the defaults."""
        async with self._database.read() as connection:
            return await profile_of(connection, user_id)

    async def in_conversation(
        self, user_id: str, conversation_id: str, *, has_memory: bool = True
    ) -> Profile:
        """As it holds there: a temporary conversation uses no memory and leaves none, nor does
        what is said to have none."""
        profile = await self.get(user_id)
        temporary = select(conversations.c.id).where(
            conversations.c.id == conversation_id,
            conversations.c.user_id == user_id,
            conversations.c.is_temporary,
        )
        if has_memory:
            async with self._database.read() as connection:
                has_memory = await connection.scalar(temporary) is None
        if has_memory:
            return profile
        return structs.replace(profile, uses_memory=False, suggests_memories=False)

    async def set(self, user_id: str, profile: Profile) -> None:
        await self.change(user_id, **structs.asdict(profile))

    async def change(self, user_id: str, **said: object) -> Profile:
        """What is not said stays as it is."""
        first = {**structs.asdict(Profile()), **said, "updated_at": self._database.now()}
        changed = {name: first[name] for name in (*said, "updated_at")}
        saying = insert(profiles).values(user_id=user_id, **first)
        saying = saying.on_conflict_do_update(["user_id"], set_=changed)
        async with self._database.write() as connection:
            return Profile(*(await connection.execute(saying.returning(*PROFILE))).one())


async def profile_of(connection: AsyncConnection, user_id: str) -> Profile:
    theirs = select(*PROFILE).where(profiles.c.user_id == user_id)
    row = (await connection.execute(theirs)).one_or_none()
    return Profile(*row) if row else Profile()
