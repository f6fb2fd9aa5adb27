"""A remote engine that does everything wrong, beside one that answers well: its answers end, with
our words, within their grant, and nobody else notices.

Single faults are tested in tests/unit/engine and tests/server/test_remote_answers.py. Here all of
them come at once, again and again, to a server in a process of its own.
"""

import asyncio
import logging
import random
from pathlib import Path

import httpx2
import msgspec
import pytest
from tests.faults.history import History, StoredTurn
from tests.faults.process import Served, key_in, serve_process
from tests.unit.engine.fake_server import STREAM_HEAD, Request, chunked, serving, sse, whole
from tests.unit.engine.remote.fake_chat_server import CHAT, ChatServer, delta
from tests.unit.engine.remote.test_grant import usage_chunk

log = logging.getLogger(__name__)

MAX_ANSWER_TOKENS = 500
SECRET = "postgres://admin:hunter2@10.0.0.5"
GOOD = "Every word of this is here."
NUM_GOOD_WORDS = len(GOOD.split())
WORDS = [delta(f" {number}") for number in range(3)]
END = delta(finish="stop")
DEEP = b"[" * 100_000 + b"]" * 100_000


def error(status: str, **headers: str) -> bytes:
    words = {"error": {"message": f"backend {SECRET} is gone", "code": "oops"}}
    return whole(msgspec.json.encode(words), status, **headers)


def raw(*values: bytes) -> bytes:
    return STREAM_HEAD + b"".join(chunked(b"data: %s\n\n" % one) for one in values) + chunked(b"")


def usage(num: int) -> bytes:
    return sse(*WORDS, END, usage_chunk(num, num, num))


ANSWERS: dict[str, bytes] = {
    "ignores max_tokens": sse(*[delta(f" {n}") for n in range(11_000)], END),
    "ignores it in one chunk": sse(delta(" word" * 11_000), END),
    "usage 2^62": usage(2**62),
    "usage 10^30": usage(10**30),
    "usage negative": usage(-1_000_000),
    "half UTF-8": raw(b'{"choices": [{"delta": {"content": "Caf\xc3"}}]}'),
    "half a character": raw(b'{"choices": [{"delta": {"content": "a\\ud800b"}}]}'),
    "a huge integer": raw(b'{"choices": [], "usage": {"prompt_tokens": %s}}' % (b"9" * 6_000)),
    "deep JSON": raw(DEEP),
    "no JSON": raw(b"<html>"),
    "other types": sse({"choices": [{"delta": {"content": 7}}]}),
    "NUL and controls": sse(delta("a\0b\x1b[2J\u202e"), END),
    "an error in the middle": sse(*WORDS, {"error": {"message": SECRET}}),
    "a tool call nobody offered": sse(
        delta(tool_calls=[{"index": 0, "function": {"name": "x", "arguments": "{" * 9_000}}]), END
    ),
    "a line without an end": STREAM_HEAD + chunked(b"data: " + b"x" * 6_000_000),
    "ends without an end": STREAM_HEAD + chunked(b"data: {}\n\n") + chunked(b""),
    "hangs up at once": b"",
    "hangs up in the middle": sse(*WORDS)[:-40],
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a head without an end": b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000,
    "a broken chunk": STREAM_HEAD + b"zz\r\nword\r\n",
    "400": error("400 Bad Request"),
    "401": error("401 Unauthorized"),
    "404": error("404 Not Found"),
    "413": error("413 Too Large"),
    "429": error("429 Too Many Requests", Retry_After="9" * 400),
    "500": error("500 Internal Server Error"),
    "503": error("503 Unavailable", Retry_After="tomorrow"),
    "a redirect": whole(b"", "302 Found", Location="http://127.0.0.1:1/"),
    "empty": sse(END),
    "nothing at all": sse(),
}
SILENT: dict[str, bytes] = {
    "silent at once": b"",
    "silent after the head": STREAM_HEAD,
    "silent after words": sse(*WORDS)[:-20],
}
"""Then nothing more comes."""
OTHER_ENDS = {"empty", "nothing at all", "a tool call nobody offered", "NUL and controls"}
"""Answers that are no failure, or need not be."""


class HostileServer(ChatServer):
    """Does what the message says."""

    def __init__(self) -> None:
        super().__init__(b"")
        self.good = sse(*[delta(word + " ") for word in GOOD.split()], END)

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != CHAT:
            return await super().__call__(request, writer)
        messages = msgspec.convert(request.json["messages"], list[dict[str, str]])
        fault = messages[-1]["content"]
        if fault == "slowly":
            for byte in sse(*WORDS, END):
                writer.write(bytes([byte]))
                await asyncio.sleep(0)
            return None
        writer.write(ANSWERS.get(fault) or SILENT.get(fault) or b"")
        if fault not in ANSWERS and fault not in SILENT:
            writer.write(self.good)
        await writer.drain()
        if fault in SILENT:
            await asyncio.Event().wait()
        return None


async def test_every_fault_of_an_engine_ends_its_answer_and_no_other(tmp_path: Path) -> None:
    await hostile(tmp_path, seed=1, num_rounds=1)


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_many_faults_of_an_engine_at_once_end_their_answers_and_no_others(
    tmp_path: Path,
) -> None:
    await hostile(tmp_path, seed=2, num_rounds=20)


async def hostile(data_dir: Path, seed: int, num_rounds: int) -> None:
    bad, good = await key_in(data_dir, "bad"), await key_in(data_dir, "good")
    chance, faults = random.Random(seed), [*ANSWERS, *SILENT, "slowly"]
    async with (
        serving(HostileServer()) as engine,
        serve_process(data_dir, environment(engine.url), engine="remote") as served,
        served.as_user(bad) as bad_http,
        served.as_user(good) as good_http,
        asyncio.timeout(800),
    ):
        sizes = [served.num_resident_kb()]
        for _ in range(num_rounds):
            chance.shuffle(faults)
            hit = [History.of(fault) for fault in faults]
            spared = [History.of("well") for _ in range(5)]
            await asyncio.gather(
                *(one.send(bad_http) for one in hit), *(one.send(good_http) for one in spared)
            )
            for one in spared:
                assert (await one.check(good_http)).text.strip() == GOOD
            for fault, one in zip(faults, hit, strict=True):
                check_fault(fault, one, await one.check(bad_http))
            sizes.append(served.num_resident_kb())
        spent = await num_output_tokens(bad_http)
        assert 0 < spent <= num_rounds * len(faults) * MAX_ANSWER_TOKENS
        spent = await num_output_tokens(good_http)
        assert spent == num_rounds * 5 * NUM_GOOD_WORDS
        await until_ready(served)
        log.warning(
            "%d faults, %d times: memory after each round, MB: %s",
            *(len(faults), num_rounds),
            ", ".join(f"{size / 1000:.0f}" for size in sizes),
        )
    assert "hunter2" not in (data_dir / "log.txt").read_text()
    assert "Traceback" not in (data_dir / "log.txt").read_text()


def check_fault(fault: str, history: History, stored: StoredTurn) -> None:
    assert history.stream
    shown = b"".join(msgspec.json.encode(one) for one in (stored.log, stored.messages))
    assert b"hunter2" not in shown, fault
    assert b"hunter2" not in history.stream.raw, fault
    *_, last = stored.log
    if fault.startswith(("usage", "ignores")) or fault == "slowly":
        assert stored.ending in ("stop", "length"), fault
        assert len(stored.text.split()) <= MAX_ANSWER_TOKENS * 4, fault
    elif fault not in OTHER_ENDS:
        assert stored.ending == "failed", fault
        assert last["event"]["message"], fault


async def num_output_tokens(http: httpx2.AsyncClient) -> int:
    return int((await http.get("/backend-api/usage")).json()["total"]["num_output_tokens"])


def environment(url: str) -> dict[str, str]:
    return {
        "HITSEND_ENGINE_URL": url,
        "HITSEND_ENGINE_SILENCE_S": "3",
        "HITSEND_ENGINE_FIRST_TOKEN_S": "2",
        "HITSEND_MAX_ANSWER_TOKENS": str(MAX_ANSWER_TOKENS),
        "HITSEND_MODEL_TITLES": "false",
        "HITSEND_PREWARM": "false",
        "HITSEND_EMBEDDINGS": "off",
        "HITSEND_SAFETY": "rules",
    }


async def until_ready(served: Served) -> None:
    """The engine counts as down for a moment after it refused the key."""
    async with asyncio.timeout(30), served.as_user("nobody") as http:
        while (await http.get("/readyz")).status_code != 200:
            continue
