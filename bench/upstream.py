"""An OpenAI-compatible server without a model: one token a chunk, as fast as it can or paced.

It costs little CPU, so that a bench measures the server in front of it. The streams take turns, one
chunk each, as in an engine that decodes in batches. The text of answer `n` is fixed, so that a
client can check every character of it.

    python bench/upstream.py --port 9000 [--rate 20] [--tokens 512]
"""

import argparse
import asyncio
import json
from itertools import count
from typing import cast

import uvloop

MODEL = "words"

PROSE = """\
A message is only as good as its way home. When you press Send, the words are checked, put in \
order, cut into tokens and read by a model that answers one piece at a time. Nothing of it should \
be lost: not when the lid is closed, not when the train enters a tunnel, not when the machine is \
switched off in the middle of a sentence. So each piece is written down first and shown second.

Here is what that means in practice:

1. **Write, then show.** What you can see on the screen is already on the disk.
2. **Count everything.** Each event has a number, and a reader asks for the next one.
3. **Never wait for the slow one.** A reader far behind gets larger pieces, not older ones.

```python
async for event in turn.events(after=last_seen):
    said = apply(said, event)
```

It works in every language: «naïve» café, Straße, 東京の天気, and even 🙂 when someone is happy. \
Prices go from 3.50 € to 12,000 €, temperatures from −40 °C to 100 °C. Is that all? Mostly, yes; \
the rest is patience, measurement and the courage to delete what is not needed."""


def split_pieces(prose: str) -> list[str]:
    """Splits into words with the space before them, long ones in two, much as a tokenizer does."""
    words = prose.replace("\n", " \n").split(" ")
    spaced = [word if word.startswith("\n") else " " + word for word in words]
    return [piece for word in spaced for piece in (word[:8], word[8:]) if piece]


PIECES = split_pieces(PROSE)


def answer_text(number: int, num_tokens: int) -> str:
    """The text of answer `number`."""
    return "".join(PIECES[(number + i) % len(PIECES)] for i in range(num_tokens))


def chunk(choices: list[object], usage: object = None) -> bytes:
    """One `chat.completion.chunk` as an SSE frame in an HTTP chunk of its own."""
    shape = {
        "id": "chatcmpl-0123456789abcdef",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": MODEL,
        "choices": choices,
    }
    if usage is not None:
        shape["usage"] = usage
    body = json.dumps(shape, ensure_ascii=False, separators=(",", ":"))
    return http_chunk(f"data: {body}\n\n".encode())


def http_chunk(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


def delta(delta: object, finish_reason: str | None = None) -> bytes:
    return chunk([{"index": 0, "delta": delta, "finish_reason": finish_reason}])


def usage(num_tokens: int) -> dict[str, int]:
    return {"prompt_tokens": 8, "completion_tokens": num_tokens, "total_tokens": 8 + num_tokens}


CHUNKS = [delta({"content": piece}) for piece in PIECES]
FIRST = delta({"role": "assistant", "content": ""})
LAST = delta({}, "length")
DONE = http_chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)
numbers = count()


class Upstream(asyncio.Protocol):
    """One connection, which answers one request after the other."""

    def __init__(self, rate: float, max_tokens: int) -> None:
        self.interval = 1 / rate if rate else 0.0
        self.max_tokens = max_tokens
        self.received = b""
        self.is_paused = self.is_waiting = self.is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.loop = asyncio.get_running_loop()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True

    def pause_writing(self) -> None:
        self.is_paused = True

    def resume_writing(self) -> None:
        self.is_paused = False
        if self.is_waiting:
            self.is_waiting = False
            self._write_next()

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, blank, rest = self.received.partition(b"\r\n\r\n")
        if not blank:
            return
        num_bytes = int(header(head, b"content-length") or 0)
        if len(rest) < num_bytes:
            return
        self.received = rest[num_bytes:]
        self.is_last = header(head, b"connection").lower() == b"close"
        self._answer(head, rest[:num_bytes])

    def _answer(self, head: bytes, body: bytes) -> None:
        match head.split(b" ", 2)[:2]:
            case [b"GET", b"/v1/models"]:
                self._reply(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            case [b"POST", b"/v1/chat/completions"]:
                self._complete(json.loads(body))
            case _:
                self._reply(404, {"error": {"message": "There is no such page.", "code": None}})

    def _reply(self, status: int, shape: object) -> None:
        body = json.dumps(shape).encode()
        head = f"HTTP/1.1 {status} -\r\ncontent-type: application/json\r\n"
        self._end(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)

    def _end(self, last: bytes) -> None:
        self.transport.write(last)
        if self.is_last:
            self.transport.close()

    def _complete(self, request: dict[str, object]) -> None:
        limit = request.get("max_completion_tokens") or request.get("max_tokens")
        self.num_left = min(self.max_tokens, cast(int, limit or self.max_tokens))
        self.number = next(numbers) % len(PIECES)
        if not request.get("stream"):
            text = answer_text(self.number, self.num_left)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "length"}
            self._reply(200, {"model": MODEL, "choices": [choice], "usage": usage(self.num_left)})
            return
        self.tail = LAST + chunk([], usage(self.num_left)) + DONE
        self.transport.write(STREAM_HEAD + FIRST)
        self.due = self.loop.time()
        self._write_next()

    def _write_next(self) -> None:
        self.is_waiting = self.is_paused
        if self.is_closed or self.is_waiting:
            return
        if not self.num_left:
            self._end(self.tail)
            return
        self.transport.write(CHUNKS[self.number])
        self.number = (self.number + 1) % len(CHUNKS)
        self.num_left -= 1
        if self.interval:
            self.due += self.interval
            self.loop.call_at(self.due, self._write_next)
        else:
            self.loop.call_soon(self._write_next)


def header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip()
    return b""


async def serve(port: int, rate: float, max_tokens: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Upstream(rate, max_tokens), "127.0.0.1", port)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one and prints it")
    parser.add_argument("--rate", type=float, default=0, help="tokens/s of each stream; 0: no pace")
    parser.add_argument("--tokens", type=int, default=512, help="longest answer")
    args = parser.parse_args()
    uvloop.run(serve(args.port, args.rate, args.tokens))


if __name__ == "__main__":
    main()
