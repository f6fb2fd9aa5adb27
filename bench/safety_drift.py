"""What changed between two versions of the safety checks: `python -m bench.safety_drift FILE`.

It writes what rules, redaction and, where there are weights, the classifier say of a fixed set of
texts: the cases of `safety_cases.toml` and made-up sentences with personal data. `--against OLDER`
then compares with a file that another version wrote, by category, and lists the texts that changed.
"""

import argparse
import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from bench.redaction import make_sentences
from bench.safety import TITLES, read_cases
from hitsend.safety import find_personal_data
from hitsend.safety.classifier import (
    ENCODER_SHA256,
    WEIGHTS_FOLDER,
    Classifier,
    Verdict,
    load_trained,
)
from hitsend.safety.encoder import ChildEncoder
from hitsend.safety.rules import Stage, find_strongest, match_rules

SEED = 14
NUM_PER_KIND, NUM_DECOYS = 20, 100
DOCUMENTS = frozenset({TITLES["injections"], TITLES["documents"]})
MAX_SHOWN_CHARS = 100
LAYERS = ("rules", "personal data", "classifier")


class Checked(msgspec.Struct, frozen=True):
    category: str
    text: str
    outcomes: Mapping[str, str]
    """What each layer says. A layer that did not run is missing."""


class Report(msgspec.Struct, frozen=True):
    checked: tuple[Checked, ...]


class Change(msgspec.Struct, frozen=True):
    category: str
    layer: str
    text: str
    before: str
    now: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="where to write the outcomes, as JSON")
    parser.add_argument("--against", type=Path, help="the file of another version")
    words = parser.parse_args()
    report = Report(tuple(asyncio.run(check_texts(read_texts()))))
    words.file.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    print(f"{len(report.checked):,} texts: {words.file}")
    if words.against:
        print(describe(compare(read_report(words.against), report)))


def read_texts() -> Iterator[tuple[str, str]]:
    """Yields categories and texts, the same ones each time."""
    yield from ((case.group, case.text) for case in read_cases())
    for sentence in make_sentences(random.Random(SEED), NUM_PER_KIND, NUM_DECOYS):
        kind = sentence.values[0].kind if sentence.values else "none"
        yield f"personal data: {kind}", sentence.text


async def check_texts(texts: Iterable[tuple[str, str]]) -> list[Checked]:
    trained = load_trained()
    if trained is None:
        return [Checked(category, text, check_text(category, text)) for category, text in texts]
    encoder = ChildEncoder(WEIGHTS_FOLDER, ENCODER_SHA256)
    classifier = Classifier(trained, encoder)
    try:
        return [
            Checked(category, text, check_text(category, text, await classifier.classify(text)))
            for category, text in texts
        ]
    finally:
        await encoder.close()


def check_text(category: str, text: str, verdict: Verdict | None = None) -> dict[str, str]:
    stage: Stage = "document" if category in DOCUMENTS else "prompt"
    strongest = find_strongest(match_rules(text, stage))
    found = Counter(one.kind for one in find_personal_data(text))
    outcomes = {
        "rules": f"{strongest.action} ({strongest.rule_id})" if strongest else "pass",
        "personal data": ", ".join(f"{num} {kind}" for kind, num in sorted(found.items()))
        or "none",
    }
    if verdict is not None:
        fired = [f"{decision} ({head})" for head, decision in verdict.decisions.items()]
        alarms = sorted(one for one in fired if not one.startswith("pass"))
        outcomes["classifier"] = ", ".join(alarms) or "pass"
    return outcomes


def read_report(file: Path) -> Report:
    return msgspec.json.decode(file.read_bytes(), type=Report)


def compare(before: Report, now: Report) -> list[Change]:
    """Compares the texts and the layers that both reports have."""
    older = {(one.category, one.text): one.outcomes for one in before.checked}
    return [
        Change(one.category, layer, one.text, older[one.category, one.text][layer], outcome)
        for one in now.checked
        for layer, outcome in one.outcomes.items()
        if outcome != older.get((one.category, one.text), {}).get(layer, outcome)
    ]


def describe(changes: Sequence[Change]) -> str:
    if not changes:
        return "Nothing changed."
    by_category = defaultdict[tuple[str, str], list[Change]](list)
    for change in changes:
        by_category[change.category, change.layer].append(change)
    lines = ["| category | layer | changed | from, to |", "|---|---|---|---|"]
    for (category, layer), changed in sorted(by_category.items()):
        ways = Counter(f"{change.before} → {change.now}" for change in changed)
        named = "; ".join(f"{num} × {way}" for way, num in ways.most_common())
        lines.append(f"| {category} | {layer} | {len(changed)} | {named} |")
    lines.append("")
    lines += [
        f"- {change.text[:MAX_SHOWN_CHARS]!r}: {change.before} → {change.now}" for change in changes
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
