"""Prewarming: the time it saves before the first token, and the time it costs other answers.

    python -m bench.warm [--model qwen2.5-coder-1.5b] [--rounds 3] [--turns 5]

First the time to the first token in a conversation the model has never read, and in one of the
same length that was prewarmed through `POST .../prepare`. Then the time of a whole answer alone,
and while prompts are prewarmed all the time. Both in turns, so that noise affects both.
"""

import argparse
import asyncio
import statistics
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import count

import uvloop

from bench import launch, machine
from bench.launch import Server
from bench.load import Answer, send
from bench.machine import Figure

MODEL = "qwen2.5-coder-1.5b"
NUM_EXCHANGES = 12
NUM_ANSWER_TOKENS = 48
END_TOKENS = {MODEL: (151643, 151645), "smollm2-135m": (0, 2)}
"""A bias against them gives every answer the same number of tokens."""
PREWARM_S = 300
SUBJECTS = ("the sea", "bread", "mountains", "trains", "winter", "music", "bees", "bridges")


@dataclass(frozen=True)
class FirstToken:
    cold_ms: float
    warm_ms: float
    num_prompt_tokens: int
    num_read_after_send: int

    @property
    def ratio(self) -> float:
        return self.warm_ms / self.cold_ms


@dataclass(frozen=True)
class Turn:
    alone_s: float
    beside_s: float

    @property
    def ratio(self) -> float:
        return self.beside_s / self.alone_s


class Bench:
    def __init__(self, server: Server, model: str) -> None:
        bias = [[token_id, -100] for token_id in END_TOKENS[model]]
        self._server = server
        self._one_token = server.chat.with_sampling({"temperature": 0, "max_tokens": 1})
        self._answer = server.chat.with_sampling(
            {"temperature": 0, "max_tokens": NUM_ANSWER_TOKENS, "logit_bias": bias}
        )
        self._numbers = count(1)

    async def measure_first_token(self) -> FirstToken:
        cold = await send(self._one_token, draft(0), await self._add_conversation())
        conversation = await self._add_conversation()
        await self._prewarm(conversation)
        warm = await send(self._one_token, draft(0), conversation)
        [read] = await self._server.events(warm, "PromptRead")
        num_read = read["num_evaluated_tokens"]
        return FirstToken(cold.first_ms, warm.first_ms, warm.num_prompt_tokens, num_read)

    async def measure_turns(self, num: int) -> list[Turn]:
        conversation = await self._add_conversation()
        await send(self._answer, draft(0), conversation)
        turns = []
        for number in range(1, num + 1):
            alone = await send(self._answer, draft(2 * number), conversation)
            async with self._prewarming():
                beside = await send(self._answer, draft(2 * number + 1), conversation)
            turns.append(Turn(alone.seconds, beside.seconds))
            print(f"{alone.seconds:>8.2f} {beside.seconds:>8.2f} {turns[-1].ratio:>7.3f}")
        return turns

    @asynccontextmanager
    async def _prewarming(self) -> AsyncGenerator[None]:
        """Prewarms one new conversation after the other, the first before it yields."""
        has_started = asyncio.Event()

        async def prewarm_forever() -> None:
            while True:
                conversation = await self._add_conversation()
                has_started.set()
                await self._prewarm(conversation)

        task = asyncio.create_task(prewarm_forever())
        await has_started.wait()
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _prewarm(self, conversation: Answer) -> None:
        async with asyncio.timeout(PREWARM_S):
            prepared = await self._server.prepare(draft(0), conversation)
            while prepared["warmup_state"] != "warm":
                await asyncio.sleep(0.1)
                prepared = await self._server.prepare(draft(0), conversation)

    async def _add_conversation(self) -> Answer:
        """A new conversation of about 700 tokens, which no earlier one resembles."""
        number = next(self._numbers)
        subject = f"{SUBJECTS[number % len(SUBJECTS)]} {number}"
        return await self._server.add_conversation(number, write_texts(subject))


def draft(number: int) -> str:
    return f"Tell me something else, number {number}, in a few sentences."


def write_texts(subject: str) -> list[str]:
    texts = []
    for number in range(NUM_EXCHANGES):
        texts.append(f"Tell me fact {number} about {subject}, and why it is so.")
        reasons = f"Fact {number} about {subject} is known for its {17 * number} reasons, of which"
        texts.append(f"{reasons} people have written at length.")
    return texts


async def run(model: str, num_rounds: int, num_turns: int) -> tuple[list[FirstToken], list[Turn]]:
    settings = {
        "model": model,
        "num_window_tokens": "2048",
        "engine_wait_s": "120",
        "embeddings": "words",
        "model_titles": "false",
    }
    async with launch.serve(["--engine", "llama"], settings) as server:
        bench = Bench(server, model)
        await send(server.chat.with_sampling({"max_tokens": 1}), "Hello")  # loads the model
        print(f"{'cold ms':>8} {'warm ms':>8} {'ratio':>7}")
        firsts = []
        for _ in range(num_rounds):
            firsts.append(first := await bench.measure_first_token())
            print(
                f"{first.cold_ms:>8.0f} {first.warm_ms:>8.0f} {first.ratio:>7.3f}   "
                f"{first.num_read_after_send} of {first.num_prompt_tokens} tokens read after Send",
                flush=True,
            )
        print(f"{'alone s':>8} {'beside s':>8} {'ratio':>7}")
        return firsts, await bench.measure_turns(num_turns)


def ratio_figure(name: str, ratios: Sequence[float], limit: float) -> Figure:
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    return Figure(f"{name} ({spread})", statistics.median(ratios), limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", choices=END_TOKENS, default=MODEL)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=5)
    args = parser.parse_args()
    launch.fetch_weights(args.model)
    firsts, turns = uvloop.run(run(args.model, args.rounds, args.turns))
    machine.report(
        "warm",
        [
            ratio_figure("first token after prewarming / cold", [f.ratio for f in firsts], 0.05),
            ratio_figure("turn beside prewarming / alone", [turn.ratio for turn in turns], 1.1),
        ],
        [*map(asdict, firsts), *map(asdict, turns)],
    )


if __name__ == "__main__":
    main()
