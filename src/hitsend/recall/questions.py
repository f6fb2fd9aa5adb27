"""What a question means, in time for its answer."""

import asyncio

from hitsend.engine import Embedder
from hitsend.errors import EngineDown, EngineLost

MOST_QUESTION_CHARS = 1_000
"""What is pasted below a question says little of what it is about."""
PATIENCE_S = 1.5
"""How long a person may have to wait for it. Words are at hand."""


async def vector_of(question: str, embedder: Embedder) -> bytes | None:
    """None where the embedder is not there, or does not answer soon."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            [vector] = await embedder.embed([question[:MOST_QUESTION_CHARS]])
    except (EngineDown, EngineLost, TimeoutError):
        return None
    return vector
