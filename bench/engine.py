"""Decoding through the whole pipeline against llama.cpp's own server, side by side.

    python -m bench.engine [--streams 1 4 16] [--rounds 6]

Both load the model with the same parameters and answer the same prompts with the same sampling, in
turns, and each is the first of every other round, so that noise affects both. Titles are off: the
engine would write them while the other side is measured. A bias against the end token gives every
answer the same number of tokens.
"""

import argparse
import asyncio
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import uvloop

from bench import launch, machine
from bench.load import Answer, BadAnswer, Load, Target, run_streams
from bench.machine import Figure

MODEL = "smollm2-135m"
END_TOKENS = (0, 2)
NUM_TOKENS = 128
WINDOW_TOKENS = 2048
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
class Round:
    """The same prompts through hitsend and straight to the engine."""

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


async def run_round(ours: Target, theirs: Target, num_streams: int, number: int) -> Round:
    def prompt(stream: int, turn: int) -> str:
        return f"Write a long text about {SUBJECTS[stream % len(SUBJECTS)]}, version {number}."

    sides = [ours, theirs] if number % 2 else [theirs, ours]
    answers: dict[str, list[Answer]] = {}
    for side in sides:
        answers[side.url] = await run_streams(side, Load(num_streams), prompt)
        await until_idle(ours)
    through, direct = answers[ours.url], answers[theirs.url]
    check(through, direct)
    return Round(
        num_streams=num_streams,
        ours=decode_rate(through),
        theirs=decode_rate(direct),
        ours_whole=whole_rate(through),
        theirs_whole=whole_rate(direct),
    )


def check(through: Sequence[Answer], direct: Sequence[Answer]) -> None:
    """Raises BadAnswer unless both sides did the same work."""
    for answer in (*through, *direct):
        if answer.num_tokens != NUM_TOKENS:
            raise BadAnswer(f"An answer has {answer.num_tokens} tokens instead of {NUM_TOKENS}.")
    lengths = [sorted(answer.num_prompt_tokens for answer in side) for side in (through, direct)]
    if lengths[0] != lengths[1]:
        raise BadAnswer(f"The prompts differ in length: {lengths}.")


def decode_rate(answers: Sequence[Answer]) -> float:
    """Tokens per second after the first text. The stream does not tell how many tokens the first
    text has; its share of the characters stands for it."""
    return sum(
        answer.num_tokens
        * (1 - len(answer.arrivals[0].text) / len(answer.text))
        / (answer.arrivals[-1].at - answer.arrivals[0].at)
        for answer in answers
    )


def whole_rate(answers: Sequence[Answer]) -> float:
    seconds = max(a.ended_at for a in answers) - min(a.started_at for a in answers)
    return sum(answer.num_tokens for answer in answers) / seconds


async def until_idle(target: Target) -> None:
    """Waits for the work after an answer, which would slow down the next."""
    headers = {"authorization": f"Bearer {target.key}"}
    async with asyncio.timeout(60):
        while True:
            _, status = await launch.call(target.url, "GET", "/backend-api/status", headers=headers)
            if status["state"] == "ready" and not status["num_busy_slots"]:
                return
            await asyncio.sleep(0.05)


@contextmanager
def serve_both(weights: Path, num_slots: int) -> Iterator[tuple[launch.Running, launch.Running]]:
    settings = {
        "model": MODEL,
        "num_slots": str(num_slots),
        "num_window_tokens": str(WINDOW_TOKENS),
        "instructions": INSTRUCTIONS,
        "model_titles": "false",
    }
    with (
        launch.hitsend(["--engine", "llama"], settings) as ours,
        launch.llama_server(weights, num_slots, WINDOW_TOKENS * num_slots) as theirs,
    ):
        yield ours, theirs


async def run(streams: list[int], num_rounds: int, weights: Path) -> list[Round]:
    with serve_both(weights, max(streams)) as (hitsend, llama):
        await launch.until_healthy(hitsend)
        await launch.until_healthy(llama, "/health", limit_s=60)
        key = await launch.make_key(hitsend.url)
        ours = Target(hitsend.url, "/backend-api/f/conversation", "v1", key, MODEL, SAMPLING)
        theirs = Target(
            llama.url, "/v1/chat/completions", "openai", "", MODEL, SAMPLING, INSTRUCTIONS
        )
        await until_idle(ours)
        await run_round(ours, theirs, 1, number=0)
        rounds = []
        for num_streams in streams:
            for number in range(1, num_rounds + 1):
                rounds.append(await run_round(ours, theirs, num_streams, number))
                print(format_round(rounds[-1]), flush=True)
        return rounds


HEADINGS = (
    f"{'':>7} {'decoding':^27} {'from request to last byte':^31}\n"
    f"{'streams':>7} {'hitsend':>9} {'engine':>9} {'ratio':>7} "
    f"{'hitsend':>11} {'engine':>11} {'ratio':>7}"
)


def format_round(one: Round) -> str:
    return (
        f"{one.num_streams:>7} {one.ours:>9.1f} {one.theirs:>9.1f} {one.ratio:>7.3f} "
        f"{one.ours_whole:>11.1f} {one.theirs_whole:>11.1f} {one.whole_ratio:>7.3f}"
    )


def ratio_figures(num_streams: int, rounds: Sequence[Round]) -> list[Figure]:
    """The median ratios, with their spread, and of decoding the ratio of the best rounds."""
    rounds = [one for one in rounds if one.num_streams == num_streams]
    ratios, whole = [one.ratio for one in rounds], [one.whole_ratio for one in rounds]
    best = max(one.ours for one in rounds) / max(one.theirs for one in rounds)
    decoding = f"({spread(ratios)}; best against best {best:.3f})"
    against = f"against the engine alone, {num_streams} streams"
    return [
        Figure(f"decoding {against} {decoding}", statistics.median(ratios), 0.97, is_floor=True),
        Figure(
            f"request to last byte {against} ({spread(whole)})",
            statistics.median(whole),
            0.95 if num_streams == 16 else None,
            is_floor=True,
        ),
    ]


def spread(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.3f} to {max(ratios):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=6)
    args = parser.parse_args()
    weights = launch.fetch_weights(MODEL)
    print(HEADINGS)
    rounds = uvloop.run(run(args.streams, args.rounds, weights))
    figures = [figure for n in args.streams for figure in ratio_figures(n, rounds)]
    machine.report("engine", figures, [*map(asdict, rounds)])


if __name__ == "__main__":
    main()
