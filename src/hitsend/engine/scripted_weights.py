"""A second model for the scripted engine, so that fetching one can be seen and tried.

Its weights are made here, a piece at a time, and are never asked anything: it answers as the
script does. Nothing comes over the network.
"""

import asyncio

from hitsend.engine.contract import Download, Offer
from hitsend.errors import Conflict

SMALL = "scripted-small"
NUM_BYTES = 2_000_000
PIECE_BYTES = 50_000
PIECE_S = 0.05


class ScriptedWeights:
    def __init__(self) -> None:
        self._weights = bytearray()
        self._making: asyncio.Task[None] | None = None

    @property
    def is_here(self) -> bool:
        return len(self._weights) == NUM_BYTES

    @property
    def offer(self) -> Offer:
        return Offer(
            name=SMALL,
            title="Scripted small",
            num_bytes=NUM_BYTES,
            num_window_tokens=4096,
            quantisation="script",
            good_at=("short_answers",),
            is_here=self.is_here,
        )

    @property
    def downloads(self) -> tuple[Download, ...]:
        if self._making is None or self.is_here:
            return ()
        return (Download(SMALL, len(self._weights), NUM_BYTES),)

    def begin(self) -> None:
        if self.is_here:
            raise Conflict("Scripted small is here already.")
        if self._making is None:
            self._making = asyncio.create_task(self._make())

    async def remove(self) -> bool:
        """Whether there was anything, whole or half made."""
        if self._making is None:
            return False
        self._making.cancel()
        await asyncio.wait([self._making])
        self._making = None
        self._weights.clear()
        return True

    async def _make(self) -> None:
        while not self.is_here:
            await asyncio.sleep(PIECE_S)
            self._weights += bytes(PIECE_BYTES)
