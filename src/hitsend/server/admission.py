"""May this call start a turn now? The gate and the limits, in the order in which they are cheap."""

from hitsend.server.calls import Call


async def admit_call(call: Call) -> dict[str, str]:
    """What the answer says of the limits, as headers. Raises ProofNeeded and TooFast."""
    return {}
