"""Erases an account with everything of its user."""

from hitsend.runner import Runner
from hitsend.store import Actor, Store


async def erase_account(store: Store, runner: Runner, user_id: str, by: Actor) -> None:
    """Stops the user's turns and erases everything of theirs. The account is closed first: if this
    breaks off, the user is locked out, and an administrator can repeat it."""
    await store.accounts.close_account(user_id, by)
    await runner.stop(user_id)
    await store.accounts.erase(user_id)
