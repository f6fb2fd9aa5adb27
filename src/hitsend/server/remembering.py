"""A person's memories and profile, as they take them along."""

from hitsend.store import Store
from hitsend.store.memories import MOST_LISTED


async def exported_memories(store: Store, user_id: str) -> dict[str, object]:
    kept = await store.memories.list(user_id, limit=MOST_LISTED)
    return {"profile": await store.profiles.get(user_id), "memories": kept.items}
