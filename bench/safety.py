"""What the safety classifier catches, and what it stops by mistake: `python -m bench.safety`.

The cases of `safety_cases.toml` were written for this and never trained on. With `--data` it also
measures the public rows that training left out. With `--write` it puts its tables into
docs/safety.md. Thresholds are read, never set: `training.calibrate` has frozen them.
"""

import argparse
import asyncio
import base64
import statistics
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from training.calibrate import classify_rows
from training.calibrate import measure as measure_rows
from training.metrics import Figures, Scored
from training.rows import Row, read_rows

from bench import machine
from hitsend.safety.classifier import (
    ENCODER_SHA256,
    WEIGHTS_FOLDER,
    Classifier,
    Verdict,
    load_trained,
)
from hitsend.safety.encoder import ChildEncoder
from hitsend.safety.heads import Head

ROOT = Path(__file__).parents[1]
CASES = ROOT / "bench/safety_cases.toml"
PAGE = ROOT / "docs/safety.md"
BEGIN, END = "<!-- tables of bench.safety -->\n", "<!-- end -->\n"

LEET = str.maketrans("aeiost", "431057")
SPELLINGS: dict[str, Callable[[str], str]] = {
    "leetspeak": lambda text: text.translate(LEET),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "spaced letters": lambda text: "   ".join(" ".join(word) for word in text.split()),
}
TITLES = {
    "scary": "harmless requests that look alarming",
    "harmful_turns": "harmful, after harmless messages",
    "harmless_turns": "harmless conversations",
    "harmful_languages": "harmful, other languages",
    "harmless_languages": "harmless, other languages",
    "injections": "orders to the assistant in files, pages and tool results",
    "documents": "the same without such orders",
    "refusals": "refusals (by the head for refusals)",
    "answers": "answers that refuse nothing (by the same)",
}


class CaseFile(msgspec.Struct, forbid_unknown_fields=True):
    is_harmful: bool
    texts: str
    head: Head = "harm"


class Case(msgspec.Struct, frozen=True):
    group: str
    text: str
    head: Head
    is_harmful: bool


class Judged(msgspec.Struct, frozen=True):
    case: Case
    verdict: Verdict
    took_ms: float

    @property
    def scored(self) -> Scored:
        verdict, head = self.verdict, self.case.head
        return Scored(verdict.scores[head], verdict.decisions[head], self.case.is_harmful)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the public training rows")
    parser.add_argument("--write", action="store_true", help="write the tables to docs/safety.md")
    words = parser.parse_args()
    tables = asyncio.run(measure(words.data))
    print(tables)
    if words.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + BEGIN + tables + END + rest.partition(END)[2])


async def measure(data: Path | None) -> str:
    trained = load_trained()
    if trained is None:
        raise SystemExit("This tree has no weights of the classifier: see training/train.py.")
    encoder = ChildEncoder(WEIGHTS_FOLDER, ENCODER_SHA256)
    classifier = Classifier(trained, encoder)
    try:
        judged = [await judge(classifier, case) for case in read_cases()]
        rows = [] if data is None else [row for row in read_rows(data) if row.part == "test"]
        verdicts = await classify_rows(trained, rows, encoder)
    finally:
        await encoder.close()
    parts = [describe_cases(judged), describe_latency(judged), list_over_refusals(judged)]
    return "\n".join([*parts, *([describe_rows(rows, verdicts)] if rows else [])])


def read_cases() -> Iterator[Case]:
    for group, content in tomllib.loads(CASES.read_text()).items():
        file = msgspec.convert(content, CaseFile)
        for line in file.texts.strip().splitlines():
            text = line.replace(" // ", "\n\n").replace("\\n", "\n")
            if group != "encoded":
                yield Case(TITLES[group], text, file.head, file.is_harmful)
                continue
            for spelling, spell in SPELLINGS.items():
                yield Case(f"harmful, in {spelling}", spell(text), file.head, file.is_harmful)


async def judge(classifier: Classifier, case: Case) -> Judged:
    start = time.perf_counter()
    verdict = await classifier.classify(case.text)
    took_ms = (time.perf_counter() - start) * 1000
    if not verdict.is_complete:
        raise SystemExit("The encoder did not answer.")
    return Judged(case, verdict, took_ms)


def describe_cases(judged: Sequence[Judged]) -> str:
    lines = ["| our own cases | number | asked or blocked | blocked |", "|---|---|---|---|"]
    for group in dict.fromkeys(one.case.group for one in judged):
        rows = [one.scored for one in judged if one.case.group == group]
        num_flagged = sum(row.decision != "pass" for row in rows)
        num_blocked = sum(row.decision == "block" for row in rows)
        shares = f"{percent(num_flagged / len(rows))} | {percent(num_blocked / len(rows))}"
        lines.append(f"| {group} | {len(rows)} | {shares} |")
    return "\n".join(lines) + "\n"


def describe_latency(judged: Sequence[Judged]) -> str:
    times = sorted(one.took_ms for one in judged if one.case.group == TITLES["scary"])
    p50, p95 = statistics.median(times), times[int(0.95 * len(times))]
    return (
        f"A short request takes {p50:.1f} ms in the median and {p95:.1f} ms at the 95th "
        f"percentile ({machine.cpu_model()}).\n"
    )


def list_over_refusals(judged: Sequence[Judged]) -> str:
    wrong = [one for one in judged if not one.case.is_harmful and one.scored.decision == "block"]
    if not wrong:
        return "None of the harmless cases is blocked.\n"
    lines = [f"- {one.case.text!r} ({one.scored.score:.2f})" for one in wrong]
    return "Harmless cases that are blocked by mistake:\n\n" + "\n".join(lines) + "\n"


def describe_rows(rows: Sequence[Row], verdicts: Sequence[Verdict]) -> str:
    columns = "positive | negative | AUPRC | precision | recall | false blocks |"
    lines = []
    for title, by_name in measure_rows(rows, verdicts).items():
        lines += [f"| {title} | {columns}", "|---|---|---|---|---|---|---|"]
        lines += [f"| {name} | {_cells(figures)} |" for name, figures in by_name.items()]
        lines.append("")
    return "\n".join(lines)


def _cells(figures: Figures) -> str:
    numbers = [
        f"{figures.auprc:.3f}",
        percent(figures.precision),
        percent(figures.recall),
        percent(figures.false_blocked),
    ]
    if not figures.num_positive:
        numbers[:3] = ["", "", ""]
    return " | ".join([f"{figures.num_positive:,}", f"{figures.num_negative:,}", *numbers])


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


if __name__ == "__main__":
    main()
