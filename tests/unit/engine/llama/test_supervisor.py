"""The supervisor restarts a process that dies, and logs a repeated problem once."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from hitsend.engine.llama.child import Launch
from hitsend.engine.llama.supervisor import STABLE_S, Supervisor, private_socket
from hitsend.errors import EngineDown, ModelBroken, Refused


class Clock:
    now = 0.0


class FailingSupervisor(Supervisor):
    """A supervisor whose process fails in the same way each time, after two minutes of the fake
    clock."""

    def __init__(self, end: Exception | None, clock: Clock) -> None:
        launch = Launch("tiny.gguf", str(private_socket()), "key", 1, 1, 1, 1, 0, 1)
        super().__init__("Tiny", launch, 1.0, "Fetch it again.", lambda: clock.now)
        self.starts: asyncio.Queue[float] = asyncio.Queue()
        self._end = end
        self._clock = clock

    async def _run_process(self) -> None:
        self.starts.put_nowait(asyncio.get_running_loop().time())
        self._clock.now += 2 * STABLE_S
        if self._end:
            raise self._end
        self._become_ready()


@asynccontextmanager
async def supervising(end: Exception | None) -> AsyncGenerator[FailingSupervisor]:
    supervisor = FailingSupervisor(end, Clock())
    supervisor.start()
    try:
        async with asyncio.timeout(30):
            yield supervisor
    finally:
        await supervisor.close()


async def start_times(supervisor: FailingSupervisor, num_times: int) -> list[float]:
    return [await supervisor.starts.get() for _ in range(num_times)]


async def test_any_of_our_errors_counts_as_a_failure_to_load(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with supervising(Refused("it asks for too much")) as supervisor:
        await start_times(supervisor, 4)
        assert supervisor.state == "down"
        with pytest.raises(ModelBroken, match="too much. The weights are tiny.gguf. Fetch it"):
            await supervisor.wait_until_ready(1.0)
    (record,) = caplog.records
    assert "it asks for too much" in record.message


async def test_a_bug_is_logged_once_and_the_process_is_started_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with supervising(KeyError("a bug")) as supervisor:
        await start_times(supervisor, 4)
        assert supervisor.state == "down"
        with pytest.raises(EngineDown, match="is tried again"):
            await supervisor.wait_until_ready(0.001)
    (record,) = caplog.records
    assert (record.levelno, record.exc_text is not None) == (logging.ERROR, True)


async def test_a_long_load_does_not_reset_the_backoff() -> None:
    async with supervising(ModelBroken("damaged")) as supervisor:
        first, *_, last = await start_times(supervisor, 4)
        assert last - first > 1.0  # 0.2, 0.4 and 0.8 s


async def test_every_death_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with supervising(None) as supervisor:
        await start_times(supervisor, 3)
        assert supervisor.state == "restarting"
    assert [record.message for record in caplog.records][:2] == 2 * [
        "Tiny died and is starting again."
    ]
