"""A process that is kept alive: what keeps it from living is told once, and it is tried again."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from hitsend.engine.child import Launch
from hitsend.engine.supervised import STEADY_S, Supervised, private_socket
from hitsend.errors import EngineDown, ModelBroken, Refused


class Clock:
    now = 0.0


class Doomed(Supervised):
    """Ends in the same way each time, after a minute of the clock's that is nobody's."""

    def __init__(self, end: Exception | None, clock: Clock) -> None:
        launch = Launch("tiny.gguf", str(private_socket()), "key", 1, 1, 1, 1, 0, 1)
        super().__init__("Tiny", launch, 1.0, "Fetch it again.", lambda: clock.now)
        self.tries: asyncio.Queue[float] = asyncio.Queue()
        self._end = end
        self._clock = clock

    async def _live(self) -> None:
        self.tries.put_nowait(asyncio.get_running_loop().time())
        self._clock.now += 2 * STEADY_S
        if self._end:
            raise self._end
        self._become_ready()


@asynccontextmanager
async def kept(end: Exception | None) -> AsyncGenerator[Doomed]:
    doomed = Doomed(end, Clock())
    doomed.start()
    try:
        async with asyncio.timeout(30):
            yield doomed
    finally:
        await doomed.close()


async def tried(doomed: Doomed, num_times: int) -> list[float]:
    return [await doomed.tries.get() for _ in range(num_times)]


async def test_whatever_we_raise_is_a_failure_to_load(caplog: pytest.LogCaptureFixture) -> None:
    async with kept(Refused("it asks for too much")) as doomed:
        await tried(doomed, 4)
        assert doomed.state == "down"
        with pytest.raises(ModelBroken, match="too much. The weights are tiny.gguf. Fetch it"):
            await doomed.until_ready(1.0)
    (told,) = caplog.records
    assert "it asks for too much" in told.message


async def test_a_bug_is_told_and_it_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async with kept(KeyError("a bug")) as doomed:
        await tried(doomed, 4)
        assert doomed.state == "down"
        with pytest.raises(EngineDown, match="is tried again"):
            await doomed.until_ready(0.001)
    (told,) = caplog.records
    assert (told.levelno, told.exc_text is not None) == (logging.ERROR, True)


async def test_loading_for_long_is_not_living_for_long() -> None:
    async with kept(ModelBroken("damaged")) as doomed:
        first, *_, last = await tried(doomed, 4)
        assert last - first > 1.0  # 0.2, 0.4 and 0.8 s


async def test_every_death_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with kept(None) as doomed:
        await tried(doomed, 3)
        assert doomed.state == "restarting"
    assert [told.message for told in caplog.records][:2] == 2 * ["Tiny died and is starting again."]
