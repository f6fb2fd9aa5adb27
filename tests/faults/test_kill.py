"""kill -9 in the middle of answers: what anyone was shown is there after the restart."""

import asyncio
from pathlib import Path

import httpx2
from tests.faults.process import key_in, message, serving

from hitsend.wire.delta import DeltaDecoder
from hitsend.wire.sse import SseParser

NUM_STREAMS = 12
ENOUGH_CHARS = 200
LONG = "!script tokens=100000 pace=2ms"
SEND = "/backend-api/f/conversation"


async def listen(
    http: httpx2.AsyncClient, heard: dict[str, str], has_enough: asyncio.Event
) -> None:
    """Send, and remember every character of the answer until the line goes dead."""
    parser, decoder, turn_id = SseParser(), DeltaDecoder(), ""
    try:
        async with http.stream("POST", SEND, json=message(LONG)) as response:
            turn_id = response.headers["x-turn-exchange-id"]
            async for chunk in response.aiter_raw():
                for event in parser.feed(chunk):
                    if event.event == "delta":
                        decoder.decode(event.data)
                heard[turn_id] = said(decoder)
                if len(heard) == NUM_STREAMS and min(map(len, heard.values())) > ENOUGH_CHARS:
                    has_enough.set()
    except httpx2.HTTPError:
        return


def said(decoder: DeltaDecoder) -> str:
    tree: object = decoder.tree(decoder.channels[-1]) if len(decoder.channels) > 1 else None
    return str(tree["message"]["content"]["parts"][0]) if isinstance(tree, dict) else ""


async def test_every_character_that_was_shown_survives_kill_9(tmp_path: Path) -> None:
    key = await key_in(tmp_path)
    heard: dict[str, str] = {}
    async with (
        serving(tmp_path) as served,
        httpx2.AsyncClient(base_url=served.url, headers={"authorization": f"Bearer {key}"}) as http,
    ):
        has_enough = asyncio.Event()
        listening = [
            asyncio.create_task(listen(http, heard, has_enough)) for _ in range(NUM_STREAMS)
        ]
        async with asyncio.timeout(30):
            await has_enough.wait()
        served.process.kill()
        await asyncio.wait(listening)

    async with (
        serving(tmp_path) as served,
        httpx2.AsyncClient(base_url=served.url, headers={"authorization": f"Bearer {key}"}) as http,
    ):
        for turn_id, shown in heard.items():
            log = (await http.get(f"/backend-api/turn/{turn_id}")).json()["events"]
            kept = "".join(
                one["event"]["text"] for one in log if one["event"]["type"] == "TextArrived"
            )
            assert kept.startswith(shown)
            assert log[-1]["event"] == {"type": "TurnFinished", "ending": "interrupted"}
            assert [one["seq"] for one in log] == list(range(1, len(log) + 1))
    assert len(heard) == NUM_STREAMS
