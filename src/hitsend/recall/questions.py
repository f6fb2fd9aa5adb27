"""What a question means, in time for its answer."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from hitsend.engine import Embedder
from hitsend.errors import EngineDown

MOST_QUESTION_CHARS = 1_000
"""What is pasted below a question says little of what it is about."""
PATIENCE_S = 1.5
"""How long a person may have to wait for it. Words are at hand."""

T = TypeVar("T")


async def vector_of(question: str, embedder: Embedder) -> bytes:
    [vector] = await embedder.embed([question[:MOST_QUESTION_CHARS]])
    return vector


async def soon(told: Awaitable[T]) -> T | None:
    """What an embedder tells. None where it is not there, or does not answer soon."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await told
    except (EngineDown, TimeoutError):
        return None
