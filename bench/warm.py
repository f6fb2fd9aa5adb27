"""What reading ahead saves a person, and what housekeeping costs one.

    python -m bench.warm [--model qwen2.5-coder-1.5b] [--rounds 3] [--turns 5]

First the time to the first token of a conversation the engine has never seen, beside one of the
same length whose stable beginning was read ahead. Then the whole time of a turn with the engine
for itself, beside the same turn while prompts are always waiting to be read ahead and titles to
be written. Both in turns, so that a noisy machine troubles both.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import count

import msgspec
import uvloop

from bench import machine
from bench.machine import Bar
from hitsend.engine import Catalogue, GaveWay, Generated, LlamaEngine, Prompt, PromptWasRead
from hitsend.messages import Message, Sampling, Text
from hitsend.settings import Settings

MODEL = "qwen2.5-coder-1.5b"
NUM_TOKENS = 700
LEFT_TOKENS = 16
"""At the end of the draft, and the template's own after it: they are read after Send."""
ONE = Sampling(temperature=0, max_tokens=1)
NUM_ANSWER_TOKENS = 48
END_TOKENS = {MODEL: (151643, 151645), "smollm2-135m": (0, 2)}
"""Biased away: every answer has exactly as many tokens as were asked for."""
TITLE = Sampling(temperature=0, max_tokens=16)
SETTLE_S = 1.3
"""Long enough for housekeeping to be in the middle of something."""
SUBJECTS = ("the sea", "bread", "mountains", "trains", "winter", "music", "bees", "bridges")


@dataclass(frozen=True)
class Start:
    """Seconds to the first token, of two conversations of the same length."""

    cold_s: float
    warm_s: float
    num_tokens: int
    num_read_after_send: int

    @property
    def ratio(self) -> float:
        return self.warm_s / self.cold_s


@dataclass(frozen=True)
class Turn:
    """Seconds of a whole turn."""

    alone_s: float
    beside_s: float

    @property
    def ratio(self) -> float:
        return self.beside_s / self.alone_s


@dataclass(frozen=True)
class Heard:
    first_s: float
    whole_s: float
    num_evaluated_tokens: int


class Bench:
    def __init__(self, engine: LlamaEngine, model: str) -> None:
        self._engine = engine
        bias = tuple((token_id, -100.0) for token_id in END_TOKENS[model])
        self._answer = Sampling(temperature=0, max_tokens=NUM_ANSWER_TOKENS, logit_bias=bias)
        self._numbers = count(1)

    async def start(self) -> Start:
        cold = await self._conversation(NUM_TOKENS)
        before = await self._hear(cold, ONE)
        warm = await self._conversation(NUM_TOKENS)
        scaffold = warm.spans[-1].num_tokens
        await self._engine.prefill(cut(warm, warm.num_tokens - scaffold - LEFT_TOKENS))
        after = await self._hear(warm, ONE)
        return Start(before.first_s, after.first_s, warm.num_tokens, after.num_evaluated_tokens)

    async def turn(self, *, is_beside: bool) -> float:
        if not is_beside:
            return (await self._hear(await self._next(), self._answer)).whole_s
        prompt = await self._next()
        async with self._housekeeping():
            await asyncio.sleep(SETTLE_S)
            return (await self._hear(prompt, self._answer)).whole_s

    @asynccontextmanager
    async def _housekeeping(self) -> AsyncGenerator[None, None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._read_ahead()), group.create_task(self._write_titles())]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def _read_ahead(self) -> None:
        while True:
            await self._engine.prefill(await self._conversation(NUM_TOKENS // 2))

    async def _write_titles(self) -> None:
        while True:
            with suppress(GaveWay):
                await self._engine.aside(await self._conversation(100), TITLE)

    async def _next(self) -> Prompt:
        """The next message of one long conversation: what was said before is always the same."""
        asked = f"Tell me something else, number {next(self._numbers)}, in a few sentences."
        return await self._engine.encode("auto", [*said("gardens", 12), user(asked)])

    async def _conversation(self, num_tokens: int) -> Prompt:
        """A new one, from its first word on."""
        number = next(self._numbers)
        subject = f"{SUBJECTS[number % len(SUBJECTS)]} {number}"
        for num_exchanges in count(1):
            messages = [*said(subject, num_exchanges), user(f"What else about {subject}?")]
            prompt = await self._engine.encode("auto", messages)
            if prompt.num_tokens >= num_tokens:
                return prompt
        raise AssertionError("count() has no end")

    async def _hear(self, prompt: Prompt, sampling: Sampling) -> Heard:
        began = time.perf_counter()
        first_s, num_evaluated_tokens = 0.0, 0
        async with aclosing(self._engine.generate(prompt, sampling)) as steps:
            async for step in steps:
                if isinstance(step, PromptWasRead):
                    num_evaluated_tokens = step.num_evaluated_tokens
                if isinstance(step, Generated) and not first_s:
                    first_s = time.perf_counter() - began
        return Heard(first_s, time.perf_counter() - began, num_evaluated_tokens)


def said(subject: str, num_exchanges: int) -> list[Message]:
    messages = [Message("system", (Text(f"On {subject}: answer at length."),), "system")]
    for number in range(num_exchanges):
        asked = f"Tell me fact {number} about {subject}, and why it is so."
        answer = f"Fact {number} about {subject} is known for its {17 * number} reasons, of which "
        messages.append(Message("user", (Text(asked),)))
        messages.append(Message("assistant", (Text(answer + "people have written at length."),)))
    return messages


def user(text: str) -> Message:
    return Message("user", (Text(text),), "user")


def cut(prompt: Prompt, num_tokens: int) -> Prompt:
    return msgspec.structs.replace(prompt, ids=prompt.ids[:num_tokens], num_tokens=num_tokens)


async def run(model: str, num_starts: int, num_turns: int) -> tuple[list[Start], list[Turn]]:
    settings = Settings(model=model, num_window_tokens=2048, engine_wait_s=120)
    engine = LlamaEngine(settings, Catalogue(settings.models_dir, None))
    await engine.start()
    try:
        await engine.resolve("auto")
        bench = Bench(engine, model)
        return await starts(bench, num_starts), await turns(bench, num_turns)
    finally:
        await engine.close()


async def starts(bench: Bench, num: int) -> list[Start]:
    print(f"{'cold s':>8} {'warm s':>8} {'ratio':>7}")
    measured = []
    for _ in range(num):
        start = await bench.start()
        print(f"{start.cold_s:>8.2f} {start.warm_s:>8.2f} {start.ratio:>7.3f}", flush=True)
        measured.append(start)
    return measured


async def turns(bench: Bench, num: int) -> list[Turn]:
    print(f"{'alone s':>8} {'beside s':>8} {'ratio':>7}")
    await bench.turn(is_beside=False)
    measured = []
    for _ in range(num):
        alone_s = await bench.turn(is_beside=False)
        turn = Turn(alone_s, await bench.turn(is_beside=True))
        print(f"{turn.alone_s:>8.2f} {turn.beside_s:>8.2f} {turn.ratio:>7.3f}", flush=True)
        measured.append(turn)
    return measured


def bar(name: str, ratios: list[float], limit: float) -> Bar:
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    return Bar(f"{name} ({spread})", statistics.median(ratios), limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", choices=END_TOKENS, default=MODEL)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=5)
    args = parser.parse_args()
    measured, beside = uvloop.run(run(args.model, args.rounds, args.turns))
    machine.report(
        "warm",
        [*(asdict(one) for one in measured), *(asdict(one) for one in beside)],
        [
            bar("first token after typing, against cold", [one.ratio for one in measured], 0.05),
            bar("a turn beside housekeeping, against alone", [one.ratio for one in beside], 1.1),
        ],
    )


if __name__ == "__main__":
    main()
