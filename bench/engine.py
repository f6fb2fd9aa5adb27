"""Decoding through the whole pipeline against llama.cpp's own server, side by side.

    python -m bench.engine [--streams 1 4 16] [--rounds 6]

Both have the model loaded with the same parameters and answer the same prompts with the same
sampling, in turns (ours, theirs, ours, theirs, ...), so that a noisy machine troubles both.
The end token is biased away: every answer has exactly as many tokens as were asked for.
"""

import argparse
import asyncio
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs
import uvloop

from bench import launch, machine
from bench.load import Answer, BadAnswer, Load, Target, run_streams
from bench.machine import Bar

MODEL = "smollm2-135m"
END_TOKENS = (0, 2)
NUM_TOKENS = 128
WINDOW_TOKENS = 2048
WEIGHTS = Path(platformdirs.user_cache_dir("hitsend"), "models", "smollm2-135m-instruct-q4_1.gguf")
INSTRUCTIONS = "You are a helpful assistant. Answer at length."
SAMPLING = {
    "temperature": 0,
    "top_k": 40,
    "top_p": 0.9,
    "min_p": 0.05,
    "repeat_penalty": 1.0,
    "seed": 1,
    "max_tokens": NUM_TOKENS,
    "logit_bias": [[token, -100] for token in END_TOKENS],
}
SUBJECTS = (
    *("the sea", "bread", "mountains", "a lighthouse", "trains", "winter", "music", "bees"),
    *("a library", "bridges", "the moon", "gardens", "clocks", "rivers", "paper", "a harbour"),
)


@dataclass(frozen=True)
class Pair:
    """One round: the same prompts through hitsend and straight to the engine."""

    num_streams: int
    ours: float
    """Tokens per second while decoding, all streams together."""
    theirs: float
    ours_whole: float
    """Tokens per second from the request to the last byte."""
    theirs_whole: float

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def whole_ratio(self) -> float:
        return self.ours_whole / self.theirs_whole


async def round_of(ours: Target, theirs: Target, num_streams: int, number: int) -> Pair:
    def prompt(stream: int, turn: int) -> str:
        return f"Write a long text about {SUBJECTS[stream % len(SUBJECTS)]}, version {number}."

    through = await run_streams(ours, Load(num_streams), prompt)
    await idle(ours)
    direct = await run_streams(theirs, Load(num_streams), prompt)
    check(through, direct)
    return Pair(
        num_streams=num_streams,
        ours=decode_rate(through),
        theirs=decode_rate(direct),
        ours_whole=whole_rate(through),
        theirs_whole=whole_rate(direct),
    )


def check(through: Sequence[Answer], direct: Sequence[Answer]) -> None:
    """The work must be the same, or the ratio means nothing."""
    for answer in (*through, *direct):
        if answer.num_tokens != NUM_TOKENS:
            raise BadAnswer(f"An answer has {answer.num_tokens} tokens instead of {NUM_TOKENS}.")
    lengths = [sorted(answer.num_prompt_tokens for answer in side) for side in (through, direct)]
    if lengths[0] != lengths[1]:
        raise BadAnswer(f"The prompts differ in length: {lengths}.")


def decode_rate(answers: Sequence[Answer]) -> float:
    """The clock starts with the first text, so what came with it does not count. How many
    tokens that were is not told on the wire; its share of the text stands for it."""
    return sum(
        answer.num_tokens
        * (1 - len(answer.arrivals[0].text) / len(answer.text))
        / (answer.arrivals[-1].at - answer.arrivals[0].at)
        for answer in answers
    )


def whole_rate(answers: Sequence[Answer]) -> float:
    seconds = max(a.ended_at for a in answers) - min(a.started_at for a in answers)
    return sum(answer.num_tokens for answer in answers) / seconds


async def idle(target: Target) -> None:
    """What hitsend may do after an answer must not slow down the next one measured."""
    headers = {"authorization": f"Bearer {target.key}"}
    async with asyncio.timeout(60):
        while True:
            _, status = await launch.call(target.url, "GET", "/backend-api/status", headers=headers)
            if status["state"] == "ready" and not status["num_busy_slots"]:
                return
            await asyncio.sleep(0.05)


@contextmanager
def both(weights: Path, num_slots: int) -> Iterator[tuple[launch.Running, launch.Running]]:
    settings = {
        "model": MODEL,
        "num_slots": str(num_slots),
        "num_window_tokens": str(WINDOW_TOKENS),
        "instructions": INSTRUCTIONS,
    }
    with (
        launch.hitsend(["--engine", "llama"], settings) as ours,
        launch.llama_server(weights, num_slots, WINDOW_TOKENS * num_slots) as theirs,
    ):
        yield ours, theirs


async def run(streams: list[int], num_rounds: int, weights: Path) -> list[Pair]:
    with both(weights, max(streams)) as (hitsend, llama):
        await launch.until_healthy(hitsend)
        await launch.until_healthy(llama, "/health", limit_s=60)
        key = await launch.make_key(hitsend.url)
        ours = Target(hitsend.url, "/backend-api/f/conversation", "v1", key, MODEL, SAMPLING)
        theirs = Target(
            llama.url, "/v1/chat/completions", "openai", "", MODEL, SAMPLING, INSTRUCTIONS
        )
        await idle(ours)
        await round_of(ours, theirs, 1, number=0)
        pairs = []
        for num_streams in streams:
            for number in range(1, num_rounds + 1):
                pairs.append(await round_of(ours, theirs, num_streams, number))
                print(row(pairs[-1]), flush=True)
        return pairs


HEADINGS = (
    f"{'':>7} {'decoding':^27} {'from request to last byte':^31}\n"
    f"{'streams':>7} {'hitsend':>9} {'engine':>9} {'ratio':>7} "
    f"{'hitsend':>11} {'engine':>11} {'ratio':>7}"
)


def row(pair: Pair) -> str:
    return (
        f"{pair.num_streams:>7} {pair.ours:>9.1f} {pair.theirs:>9.1f} {pair.ratio:>7.3f} "
        f"{pair.ours_whole:>11.1f} {pair.theirs_whole:>11.1f} {pair.whole_ratio:>7.3f}"
    )


def bar(num_streams: int, pairs: Sequence[Pair]) -> Bar:
    """The median round, with the spread; and the best rounds, which a busy machine spares."""
    rounds = [pair for pair in pairs if pair.num_streams == num_streams]
    ratios = [pair.ratio for pair in rounds]
    best = max(pair.ours for pair in rounds) / max(pair.theirs for pair in rounds)
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}; best against best {best:.3f}"
    name = f"decode speed against the engine alone, {num_streams} streams ({spread})"
    return Bar(name, statistics.median(ratios), 0.97, is_floor=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    args = parser.parse_args()
    print(HEADINGS)
    pairs = uvloop.run(run(args.streams, args.rounds, args.weights))
    machine.report(
        "engine", [asdict(pair) for pair in pairs], [bar(n, pairs) for n in args.streams]
    )


if __name__ == "__main__":
    main()
