"""How a person leaves: what they have under way ends first."""

from hitsend.server.calls import House


async def erase_person(house: House, user_id: str) -> None:
    """With everything that is theirs. If that breaks off, they are shut out, and an administrator
    can do it again."""
    accounts = house.services.store.accounts
    await accounts.close_account(user_id)
    await house.runner.stop(user_id)
    await accounts.erase(user_id)
