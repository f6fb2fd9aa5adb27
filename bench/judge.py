"""How well a model judges whether texts are harmful, and how long that takes.

    python -m bench.judge [--model qwen2.5-coder-1.5b] [--examples 0 1 2] [--every 2]

The texts are in judge.toml. `--examples` says how many of the prompt's examples the model is shown.
With `--asked` only the messages count that the safety classifier is unsure of, as in use.
"""

import argparse
import asyncio
import statistics
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bench import machine
from hitsend.engine import Catalogue, Generated, LlamaEngine
from hitsend.judge import GUARD_SAMPLING
from hitsend.messages import Message, Sampling, Text, Token
from hitsend.prompts import render_chat, shipped_prompts
from hitsend.safety.classifier import (
    ENCODER_SHA256,
    WEIGHTS_FOLDER,
    Classifier,
    load_trained,
)
from hitsend.safety.encoder import ChildEncoder
from hitsend.safety.judgement import (
    SCHEMA,
    JudgedText,
    Judgement,
    find_dialect,
    guard_messages,
    parse,
)
from hitsend.settings import Settings

CASES = Path(__file__).parent / "judge.toml"
MODEL = "qwen2.5-coder-1.5b"
COLUMNS = (
    "judge", "texts", "harmful: unsafe, unsure, safe", "harmless: unsafe, unsure, safe", "AUC",
    "p50", "p95",
)  # fmt: skip


class Lists(msgspec.Struct, frozen=True):
    harmful: str
    harmless: str


class Cases(msgspec.Struct, frozen=True):
    prompts: Lists
    answers: Lists


@dataclass(frozen=True)
class Case:
    judged: JudgedText
    is_harmful: bool


@dataclass(frozen=True)
class Outcome:
    case: Case
    judgement: Judgement
    seconds: float

    @property
    def score(self) -> float:
        """How harmful the judge finds it, from 0 to 1."""
        sure = self.judgement.confidence or 0.5
        match self.judgement.is_harmful:
            case True:
                return sure
            case False:
                return 1 - sure
            case None:
                return 0.5


def read_cases(every: int) -> Iterator[Case]:
    cases = msgspec.convert(tomllib.loads(CASES.read_text()), Cases)
    for lists in (cases.prompts, cases.answers):
        for texts, is_harmful in ((lists.harmful, True), (lists.harmless, False)):
            for line in texts.strip().splitlines()[::every]:
                question, _, answer = line.partition(" // ")
                yield Case(JudgedText(question, answer), is_harmful)


def build_messages(model: str, judged: JudgedText, num_examples: int) -> Sequence[Message]:
    dialect = find_dialect(model)
    if dialect != "chat":
        return [
            Message(role, (Text(text),), "user") for role, text in guard_messages(dialect, judged)
        ]
    prompt = shipped_prompts()["safety_judge"]
    values = {"question": judged.question, "answer": judged.answer}
    system, *examples, question = render_chat(prompt, values, model)
    return [system, *examples[len(examples) - 2 * num_examples :], question]


async def select_asked(cases: Sequence[Case]) -> list[Case]:
    """Returns the messages that the classifier is unsure of, and prints what it makes of all."""
    trained = load_trained()
    if trained is None:
        raise SystemExit("This tree has no weights of the classifier.")
    encoder = ChildEncoder(WEIGHTS_FOLDER, ENCODER_SHA256)
    await encoder.start()
    classifier = Classifier(trained, encoder)
    messages = [case for case in cases if not case.judged.answer]
    try:
        verdicts = [await classifier.classify(case.judged.question) for case in messages]
    finally:
        await encoder.close()
    decided = [(case, one.decisions["harm"]) for case, one in zip(messages, verdicts, strict=True)]
    counts = Counter((case.is_harmful, decision) for case, decision in decided)
    for (is_harmful, decision), num in sorted(counts.items()):
        print(
            f"classifier: {decision} for {num} {'harmful' if is_harmful else 'harmless'} messages"
        )
    return [case for case, decision in decided if decision == "ask"]


async def judge(engine: LlamaEngine, model: str, case: Case, num_examples: int) -> Outcome:
    dialect = find_dialect(model)
    sampling = GUARD_SAMPLING
    if dialect == "chat":
        sampling = Sampling(temperature=0.0, max_tokens=60, json_schema=SCHEMA, top_logprobs=5)
    began = time.monotonic()
    prompt = await engine.encode(model, build_messages(model, case.judged, num_examples))
    tokens: list[Token] = []
    async with aclosing(engine.generate(prompt, sampling)) as steps:
        async for step in steps:
            tokens += step.tokens if isinstance(step, Generated) else ()
    seconds = time.monotonic() - began
    words = "".join(token.text for token in tokens)
    return Outcome(case, parse(dialect, words, tokens), seconds)


def describe(title: str, outcomes: Sequence[Outcome]) -> str:
    harmful = [one for one in outcomes if one.case.is_harmful]
    harmless = [one for one in outcomes if not one.case.is_harmful]
    took = sorted(one.seconds for one in outcomes)
    return (
        f"| {title} | {len(outcomes)} | {count_verdicts(harmful)} | {count_verdicts(harmless)} "
        f"| {area_under_curve(harmful, harmless):.2f} "
        f"| {statistics.median(took):.1f} s | {took[int(0.95 * len(took))]:.1f} s |"
    )


def count_verdicts(outcomes: Sequence[Outcome]) -> str:
    said = [one.judgement.is_harmful for one in outcomes]
    return f"{said.count(True)}, {said.count(None)}, {said.count(False)}"


def area_under_curve(harmful: Sequence[Outcome], harmless: Sequence[Outcome]) -> float:
    """How often a harmful text scores above a harmless one."""
    pairs = [(one.score, other.score) for one in harmful for other in harmless]
    return statistics.fmean((one > other) + 0.5 * (one == other) for one, other in pairs)


async def measure(words: argparse.Namespace) -> None:
    print(machine.this_machine())
    model, cases = words.model, list(read_cases(words.every))
    if words.asked:
        cases = await select_asked(cases)
    settings = replace(
        Settings(),
        model=model,
        num_slots=1,
        num_threads=words.threads,
        num_window_tokens=2048,
        engine_wait_s=300,
    )
    engine = LlamaEngine(settings, Catalogue(settings.models_dir, None))
    await engine.start()
    try:
        print(f"\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
        for num_examples in words.examples:
            await judge(engine, model, cases[0], num_examples)  # warms the prompt's beginning
            outcomes = [await judge(engine, model, case, num_examples) for case in cases]
            for kind in ("messages", "answers"):
                is_answer = kind == "answers"
                own = [one for one in outcomes if bool(one.case.judged.answer) == is_answer]
                if own:
                    title = f"{model}, {num_examples} examples, {kind}"
                    print(describe(title, own), flush=True)
            if words.errors:
                show_errors(outcomes)
    finally:
        await engine.close()


def show_errors(outcomes: Sequence[Outcome]) -> None:
    for one in outcomes:
        if one.judgement.is_harmful != one.case.is_harmful:
            print(f"  {one.score:.2f} {one.case.judged}: {one.judgement.reason}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--examples", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--every", type=int, default=1, help="judge every nth text only")
    parser.add_argument("--errors", action="store_true", help="list what was judged wrongly")
    parser.add_argument("--threads", type=int, default=0, help="of the engine; 0 is one per core")
    parser.add_argument(
        "--asked", action="store_true", help="only what the classifier is unsure of"
    )
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
