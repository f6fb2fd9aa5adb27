"""Building a prompt: its time, the facts it recalls from far back, and the tokens read again.

    python -m bench.context [--embeddings words|minilm] [--turns 1000] [--memories 10000]

It measures the time of `POST .../prepare`, in conversations of growing length with 1,000 memories
and in a new conversation with `--memories`; then how many of 20 facts in 300 turns are in the
prompt when a question asks for them, with a window of 4,096 tokens; then, with the small model and
a window that overflows several times, how many tokens the model reads for each new token.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal

import uvloop

from bench import launch, machine
from bench.context_facts import FACTS, small_talk
from bench.launch import Server
from bench.load import Answer, BadAnswer, send
from bench.machine import Figure
from bench.upstream import Upstream

Embeddings = Literal["words", "minilm"]

NUM_MEMORIES = 1000
NUM_PLANTED_TURNS = 300
WINDOW = 4096
NUM_REREAD_TURNS = 30
REREAD_WINDOW = 1024
REREAD_MODEL = "smollm2-135m"
NO_TITLES = {"model_titles": "false"}


@dataclass(frozen=True)
class Build:
    num_turns: int
    num_memories: int
    median_ms: float
    p95_ms: float
    num_tokens: int


class RecordingUpstream(Upstream):
    """Keeps the requests, which hold the prompts."""

    requests: list[dict[str, Any]] = []

    def _complete(self, request: dict[str, Any]) -> None:
        self.requests.append(request)
        super()._complete(request)


@asynccontextmanager
async def serve_recorded(embeddings: Embeddings) -> AsyncGenerator[Server]:
    loop = asyncio.get_running_loop()
    upstream = await loop.create_server(lambda: RecordingUpstream(0, 20), "127.0.0.1", 0)
    port = upstream.sockets[0].getsockname()[1]
    flags = ["--engine", "remote", "--engine-url", f"http://127.0.0.1:{port}"]
    settings = {"embeddings": embeddings, "num_window_tokens": str(WINDOW), "prewarm": "false"}
    async with launch.serve(flags, settings | NO_TITLES) as server:
        yield server
    upstream.close()


async def add_memories(server: Server, num: int) -> None:
    for number in range(num):
        text = f"My locker {number} holds the papers of case {number}."
        await server.post("/backend-api/memories", {"text": text})


async def measure_build(num_turns: int, num_memories: int, embeddings: Embeddings) -> Build:
    async with serve_recorded(embeddings) as server:
        await add_memories(server, num_memories)
        last = None
        if num_turns:
            talk = list(islice(small_talk(), num_turns))
            last = await server.add_conversation(0, [text for pair in talk for text in pair])
        last = await send(server.chat, "Let us go on.", after=last)
        await machine.until_idle(server.pid)
        times_ms = []
        for number, (_, question, _) in enumerate(FACTS * 2):
            draft = f"What was that, the {number}th: {question}"
            began = time.perf_counter()
            prepared = await server.prepare(draft, last, client_prepare_state="none")
            times_ms.append((time.perf_counter() - began) * 1000)
    p95_ms = statistics.quantiles(times_ms, n=20)[-1]
    median_ms = statistics.median(times_ms)
    return Build(num_turns, num_memories, median_ms, p95_ms, prepared["num_tokens"])


async def count_recalled(embeddings: Embeddings) -> tuple[int, int]:
    """Returns how many facts are in the prompts that ask for them, and how many would be if a
    prompt held the newest messages only."""
    talk = list(islice(small_talk(), NUM_PLANTED_TURNS))
    for number, (fact, _, _) in enumerate(FACTS):
        talk[number * NUM_PLANTED_TURNS // len(FACTS)] = fact, "I see, thank you for telling."
    async with serve_recorded(embeddings) as server:
        imported = await server.add_conversation(0, [text for pair in talk for text in pair])
        last = await send(server.chat, "Let us go on.", after=imported)
        await machine.until_idle(server.pid)
        num_recalled = num_newest = 0
        for fact, question, wanted in FACTS:
            RecordingUpstream.requests.clear()
            await send(server.chat, question, after=last)
            prompt = find_prompt(question)
            num_recalled += any(wanted in text for text in prompt)
            num_newest += any(text.endswith(fact) for text in prompt)
    return num_recalled, num_newest


def find_prompt(question: str) -> list[str]:
    """Texts of the request that ends with the question. Others are summaries."""
    for request in RecordingUpstream.requests:
        texts = [str(message["content"]) for message in request["messages"]]
        if texts[-1].endswith(question):
            return texts
    raise BadAnswer(f"No prompt ends with {question!r}.")


async def measure_reread() -> tuple[float, float]:
    """Returns the tokens read for each new token, and the cached share of all prompt tokens."""
    settings = {
        "model": REREAD_MODEL,
        "num_slots": "2",
        "num_window_tokens": str(REREAD_WINDOW),
        "embeddings": "words",
        "engine_wait_s": "60",
    }
    num_new = num_evaluated = num_cached = 0
    last: Answer | None = None
    async with launch.serve(["--engine", "llama"], settings | NO_TITLES) as server:
        for number, (question, _) in enumerate(islice(small_talk(), NUM_REREAD_TURNS)):
            sampling = {"temperature": 0.8, "seed": number, "max_tokens": 60}
            last = await send(server.chat.with_sampling(sampling), question, after=last)
            [read] = await server.events(last, "PromptRead")
            num_evaluated += read["num_evaluated_tokens"]
            num_cached += read["num_cached_tokens"]
            [encoded] = await server.events(last, "PromptEncoded")
            num_new += count_question_tokens(encoded) + last.num_tokens
    return num_evaluated / num_new, num_cached / (num_cached + num_evaluated)


def count_question_tokens(encoded: Mapping[str, Any]) -> int:
    """Tokens of the last message in the prompt, with its notes."""
    last = max(index for _, index, _ in encoded["spans"])
    return sum(num_tokens for _, index, num_tokens in encoded["spans"] if index == last)


async def run(args: argparse.Namespace) -> tuple[list[Figure], list[dict[str, object]]]:
    rows: list[dict[str, object]] = []
    figures: list[Figure] = []
    for num_turns, num_memories, limit_ms in (
        *((num, NUM_MEMORIES, 30) for num in sorted({10, 100, args.turns})),
        (0, args.memories, 20),
    ):
        build = await measure_build(num_turns, num_memories, args.embeddings)
        rows.append(asdict(build))
        print(build, flush=True)
        name = f"p95 ms to build a prompt, {num_turns:,} turns, {num_memories:,} memories"
        figures.append(Figure(name, build.p95_ms, limit_ms))
    num_recalled, num_newest = await count_recalled(args.embeddings)
    print(f"{num_recalled} of {len(FACTS)} facts recalled; newest messages alone: {num_newest}")
    figures.append(Figure(f"facts recalled of {len(FACTS)}", num_recalled, 18, is_floor=True))
    figures.append(Figure("facts in the newest messages alone", num_newest))
    if not args.no_engine:
        ratio, cached = await measure_reread()
        print(f"{ratio:.2f} tokens read for each new one; {cached:.1%} of all were cached")
        figures.append(Figure("tokens read for each new one, 30 turns", ratio, 1.2))
        figures.append(Figure("share of prompt tokens that were cached", cached))
    return figures, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--embeddings", choices=("words", "minilm"), default="words")
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--no-engine", action="store_true", help="without the real model")
    args = parser.parse_args()
    if not args.no_engine:
        launch.fetch_weights(REREAD_MODEL)
    figures, rows = uvloop.run(run(args))
    machine.report(f"context-{args.embeddings}", figures, rows)


if __name__ == "__main__":
    main()
