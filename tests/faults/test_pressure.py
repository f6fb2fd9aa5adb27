"""One person takes all they can: the others get in at once, and keep their pace.

What is asserted in seconds bears a busy machine; the figures themselves are logged, and those of a
quiet machine are in docs/reliability.md.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.faults.history import History
from tests.faults.process import Served, key_in, serve_process
from tests.faults.raw_send import COMPLETIONS, RawSend, gaps, percentile, send_raw

log = logging.getLogger(__name__)

SLOW = "!script tokens=100000 pace=100ms"
PACED = "!script tokens={} pace=50ms"
SHORT = "!script tokens=20 pace=5ms"
HOG, OTHER = "127.0.0.9", "127.0.0.2"
HALF_SIGN_IN = (
    b"POST /backend-api/accounts/sign-in HTTP/1.1\r\nhost: 127.0.0.1\r\n"
    b'content-type: application/json\r\ncontent-length: 4000\r\n\r\n{"name"'
)


# One API key with all the slow answers it can get.


async def test_a_key_with_many_slow_sends_shuts_nobody_out(tmp_path: Path) -> None:
    await hog_answers(tmp_path, num_turns=24, num_sends=24, num_measured=5)


@pytest.mark.soak
@pytest.mark.timeout(400)
async def test_a_key_with_512_slow_sends_shuts_nobody_out(tmp_path: Path) -> None:
    await hog_answers(tmp_path, num_turns=512, num_sends=512, num_measured=100)


async def hog_answers(data_dir: Path, num_turns: int, num_sends: int, num_measured: int) -> None:
    hog, eve = await key_in(data_dir, "hog"), await key_in(data_dir, "eve")
    async with (
        serve(data_dir, HITSEND_MAX_TURNS=str(num_turns)) as served,
        served.as_user(eve) as http,
        asyncio.timeout(300),
    ):
        alone = await first_words_s(http, num_measured)
        taken, refused = await take_all(served, hog, num_sends)
        assert num_turns // 4 <= len(taken) <= num_turns // 2
        assert {one.status for one in refused} <= {429, 503}
        assert all(int(one.headers["retry-after"]) > 0 for one in refused)
        beside = await first_words_s(http, num_measured)
        for one in taken:
            one.hang_up()
        while not (again := (await take_all(served, hog, 1))[0]):
            continue  # what hung up gives its room back
        again[0].hang_up()
        log.warning(
            "%d slow sends: %d running, %d refused; another person's first word: alone %.0f ms "
            "(median), %.0f (99 %%), beside them %.0f ms, %.0f",
            *(num_sends, len(taken), len(refused)),
            *(1000 * percentile(times, part) for times in (alone, beside) for part in (50, 99)),
        )
        assert percentile(beside, 50) < 1.0


async def take_all(served: Served, key: str, num_sends: int) -> tuple[list[RawSend], list[RawSend]]:
    """Returns the Sends that got an answer, which goes on, and those that were refused."""
    sent = [await send_raw(served.url, key, SLOW, HOG, COMPLETIONS) for _ in range(num_sends)]
    await asyncio.gather(*(one.read_head() for one in sent))
    refused = [one for one in sent if one.status != 200]
    await asyncio.gather(*(one.read_body() for one in refused))
    return [one for one in sent if one.status == 200], refused


async def first_words_s(http: httpx2.AsyncClient, num_sends: int) -> list[float]:
    """Every message gets in at the first try."""
    times = []
    for _ in range(num_sends):
        began, history = time.monotonic(), History.of(SHORT)
        history.received.enough = 1
        sending = asyncio.create_task(history.send(http))
        first_word = asyncio.create_task(history.received.has_enough.wait())
        await asyncio.wait([sending, first_word], return_when=asyncio.FIRST_COMPLETED)
        times.append(time.monotonic() - began)
        first_word.cancel()
        await sending
        assert history.is_whole, f"refused with {history.status}"
    return times


# Hundreds of messages at the same time.


async def test_a_burst_is_answered_soon_and_running_answers_go_on(tmp_path: Path) -> None:
    await burst(tmp_path, num_sends=60, num_running=10)


@pytest.mark.soak
@pytest.mark.timeout(400)
async def test_a_burst_of_500_is_answered_soon_and_running_answers_go_on(tmp_path: Path) -> None:
    await burst(tmp_path, num_sends=500, num_running=40)


async def burst(data_dir: Path, num_sends: int, num_running: int) -> None:
    keys = [await key_in(data_dir, f"person {number}") for number in range(20)]
    async with serve(data_dir) as served, asyncio.timeout(180):
        running = [
            await send_raw(served.url, keys[n % 20], PACED.format(200)) for n in range(num_running)
        ]
        reading = asyncio.gather(*(one.read_whole() for one in running))
        while not all(one.arrivals for one in running):
            await served_answers(served)
        calm_since = time.monotonic()
        while time.monotonic() < calm_since + 2:
            await served_answers(served)
        began = time.monotonic()
        sent = await asyncio.gather(
            *(send_raw(served.url, keys[n % 20], PACED.format(20)) for n in range(num_sends))
        )
        await asyncio.gather(*(one.read_head() for one in sent))
        ended = time.monotonic()
        await asyncio.gather(reading, *(one.read_body() for one in sent))
    heads = [one.head_s for one in sent]
    before, during = gaps(running, calm_since, began), gaps(running, began, ended)
    log.warning(
        "%d at once: %s; headers %.0f ms (median), %.0f (95 %%); gap of %d running answers "
        "%.0f ms (99 %%), before %.0f",
        *(num_sends, dict(Counter(one.status for one in sent))),
        *(1000 * percentile(heads, part) for part in (50, 95)),
        *(num_running, 1000 * percentile(during, 99), 1000 * percentile(before, 99)),
    )
    assert all(one.is_whole for one in running)
    for one in sent:
        assert one.is_whole or one.status in (429, 503)
        assert one.is_whole or int(one.headers["retry-after"]) > 0
    assert percentile(heads, 95) < 4.0


async def served_answers(served: Served) -> None:
    async with httpx2.AsyncClient(base_url=served.url) as http:
        assert (await http.get("/healthz")).status_code == 200


# Requests that never end.


async def test_half_sent_requests_shut_nobody_out(tmp_path: Path) -> None:
    await slowloris(tmp_path, num_connections=300, max_connections=200, num_rounds=2)


@pytest.mark.soak
@pytest.mark.timeout(400)
async def test_4100_half_sent_requests_shut_nobody_out(tmp_path: Path) -> None:
    await slowloris(tmp_path, num_connections=4_100, max_connections=4_000, num_rounds=20)


async def slowloris(
    data_dir: Path, num_connections: int, max_connections: int, num_rounds: int
) -> None:
    """Sends a byte of each request per round, and opens what was closed again."""
    eve = await key_in(data_dir, "eve")
    async with (
        serve(data_dir, HITSEND_MAX_CONNECTIONS=str(max_connections)) as served,
        served.as_user(eve) as http,
        asyncio.timeout(300),
    ):
        await first_words_s(http, 3)
        num_sockets, num_kb = served.num_sockets(), served.num_resident_kb()
        lines: list[asyncio.StreamWriter] = []
        times: list[float] = []
        most_kb = 0.0
        for _ in range(num_rounds):
            lines = await trickle(served, lines, num_connections)
            times += await first_words_s(http, 2)
            for path in ("/healthz", "/readyz"):
                assert (await http.get(path)).status_code == 200
            most_kb = max(most_kb, served.num_resident_kb())
        for line in lines:
            line.transport.abort()
        while served.num_sockets() > num_sockets + 2:
            await http.get("/healthz")
        log.warning(
            "%d half-sent requests: another person's first word after %.0f ms (median), %.0f "
            "(most); %.1f MB more memory",
            *(num_connections, 1000 * percentile(times, 50), 1000 * max(times)),
            (most_kb - num_kb) / 1000,
        )
        assert percentile(times, 50) < 1.0


async def trickle(
    served: Served, lines: list[asyncio.StreamWriter], num_connections: int
) -> list[asyncio.StreamWriter]:
    target = urlsplit(served.url)
    still_open = [line for line in lines if not line.transport.is_closing()]
    for line in still_open:
        line.write(b" ")
    for _ in range(num_connections - len(still_open)):
        _, line = await asyncio.open_connection(target.hostname, target.port, local_addr=(HOG, 0))
        line.write(HALF_SIGN_IN)
        still_open.append(line)
    return still_open


@asynccontextmanager
async def serve(data_dir: Path, **environment: str) -> AsyncGenerator[Served]:
    """Its log holds warnings only: a line per request would be half of what is measured."""
    async with serve_process(data_dir, environment, log_level="warning") as served:
        yield served
