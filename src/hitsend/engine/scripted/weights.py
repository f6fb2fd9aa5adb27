"""A second model for the scripted engine, so that a model download can be tested.

Its weights are zeros that arrive a piece at a time, without a network. It answers as the script
does.
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
        self._task: asyncio.Task[None] | None = None

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
        if self._task is None or self.is_here:
            return ()
        return (Download(SMALL, len(self._weights), NUM_BYTES),)

    def start(self) -> None:
        if self.is_here:
            raise Conflict("Scripted small is here already.")
        if self._task is None:
            self._task = asyncio.create_task(self._download())

    async def remove(self) -> bool:
        """Returns whether there was a download, complete or not."""
        if self._task is None:
            return False
        self._task.cancel()
        await asyncio.wait([self._task])
        self._task = None
        self._weights.clear()
        return True

    async def _download(self) -> None:
        while not self.is_here:
            await asyncio.sleep(PIECE_S)
            self._weights += bytes(PIECE_BYTES)
