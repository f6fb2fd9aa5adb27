"""What people tell every conversation of theirs, and what they allow to be remembered."""

from msgspec import structs
from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

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
        theirs = select(*PROFILE).where(profiles.c.user_id == user_id)
        async with self._database.read() as connection:
            row = (await connection.execute(theirs)).one_or_none()
        return Profile(*row) if row else Profile()

    async def in_conversation(
        self, user_id: str, conversation_id: str, *, is_temporary: bool = False
    ) -> Profile:
        """As it holds there: a temporary conversation uses no memory and leaves none. One that is
        not there yet is as it is said to be."""
        profile = await self.get(user_id)
        temporary = select(conversations.c.id).where(
            conversations.c.id == conversation_id,
            conversations.c.user_id == user_id,
            conversations.c.is_temporary,
        )
        if not is_temporary:
            async with self._database.read() as connection:
                is_temporary = await connection.scalar(temporary) is not None
        if not is_temporary:
            return profile
        return structs.replace(profile, uses_memory=False, suggests_memories=False)

    async def set(self, user_id: str, profile: Profile) -> None:
        said = {**structs.asdict(profile), "updated_at": self._database.now()}
        saying = insert(profiles).values(user_id=user_id, **said)
        async with self._database.write() as connection:
            await connection.execute(saying.on_conflict_do_update(["user_id"], set_=said))
