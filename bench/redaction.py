"""What redaction misses, and what it takes for personal data: `python -m bench.redaction`.

It reads thousands of sentences with made-up values, and with numbers that only look like them.
A value counts as found if the whole of it is found as what it is. With `--data` it also fills the
public templates in that folder. With `--write` it puts its table into docs/safety_rules.md.
"""

import argparse
import random
import re
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bench import machine, made_up_values
from hitsend.safety import DataKind, find_personal_data

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "bench/redaction.toml"
PAGE = ROOT / "docs/safety_rules.md"
BEGIN, END = "<!-- table of bench.redaction -->\n", "<!-- end -->\n"
PUBLIC_TEMPLATES = "pii_templates.txt"

SEED = 14
NUM_PER_KIND = 700
NUM_DECOYS = 2600
NUM_PER_TEMPLATE = 8
MIN_RECALL, MIN_PRECISION = 0.98, 0.95
NUM_SHOWN = 12

MAKERS: dict[str, tuple[DataKind, made_up_values.Maker]] = {
    "card": ("card", made_up_values.make_card),
    "email": ("email", made_up_values.make_email),
    "phone": ("phone", made_up_values.make_phone),
    "bare_phone": ("phone", made_up_values.make_bare_phone),
    "ssn": ("ssn", made_up_values.make_ssn),
    "dashed_ssn": ("ssn", lambda rng: _with_dashes(made_up_values.make_ssn(rng))),
    "iban": ("iban", made_up_values.make_iban),
    "key": ("key", made_up_values.make_key),
}
PUBLIC_SLOTS = {
    "credit_card_number": "card",
    "email": "email",
    "phone_number": "phone",
    "iban": "iban",
    "ssn": "ssn",
}
OTHER_SLOTS = {
    "date_time": "date", "date_of_birth": "date", "ip_address": "ip", "zipcode": "zip",
    "postcode": "zip",
}  # fmt: skip


class Value(msgspec.Struct, frozen=True):
    kind: DataKind
    start: int
    end: int


class Sentence(msgspec.Struct, frozen=True):
    text: str
    values: tuple[Value, ...] = ()


class Counts(msgspec.Struct):
    num_values: int = 0
    num_found: int = 0
    num_false: int = 0

    @property
    def recall(self) -> float:
        return self.num_found / max(1, self.num_values)

    @property
    def precision(self) -> float:
        return self.num_found / max(1, self.num_found + self.num_false)


class Audit(msgspec.Struct):
    counts: dict[DataKind, Counts]
    missed: list[str]
    false: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the public templates")
    parser.add_argument("--write", action="store_true", help="write the table to the page")
    words = parser.parse_args()
    sentences = [*make_sentences(random.Random(SEED), NUM_PER_KIND, NUM_DECOYS)]
    tables = describe("our own sentences", sentences)
    if words.data:
        public = [*fill_public_templates(random.Random(SEED), words.data / PUBLIC_TEMPLATES)]
        tables += "\n" + describe("public templates", public)
    print(tables)
    if words.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(before + BEGIN + tables + END + rest.partition(END)[2])


def make_sentences(rng: random.Random, num_per_kind: int, num_decoys: int) -> Iterator[Sentence]:
    templates = tomllib.loads(TEMPLATES.read_text())
    for slot, texts in templates["values"].items():
        for _ in range(num_per_kind):
            yield fill_template(rng, rng.choice(_lines(texts)), slot)
    for _ in range(num_decoys):
        yield Sentence(fill_decoys(rng, rng.choice(_lines(templates["decoys"]["texts"]))))


def fill_template(rng: random.Random, template: str, slot: str) -> Sentence:
    before, _, after = template.partition("{value}")
    kind, make = MAKERS[slot]
    written = make(rng)
    around, *secret = written.split(made_up_values.SECRET)
    start = len(before) + (len(around) if secret else 0)
    value = secret[0] if secret else written
    text = before + written.replace(made_up_values.SECRET, "") + after
    return Sentence(text, (Value(kind, start, start + len(value)),))


def fill_decoys(rng: random.Random, template: str) -> str:
    names = "|".join([*made_up_values.DECOYS, *made_up_values.FORMATS])
    slots = re.compile(rf"\{{({names})\}}")
    return slots.sub(lambda slot: made_up_values.make_decoy(rng, slot[1]), template)


def fill_public_templates(rng: random.Random, file: Path) -> Iterator[Sentence]:
    for line in file.read_text(errors="replace").splitlines():
        template = line.replace("\\n", "\n").replace("\\,", ",")
        for _ in range(NUM_PER_TEMPLATE):
            yield _fill_slots(rng, template)


def _fill_slots(rng: random.Random, template: str) -> Sentence:
    text, values = "", []
    for at, piece in enumerate(re.split(r"\{\{([a-z_]+)\}\}", template)):
        written = piece if at % 2 == 0 else _fill_slot(rng, piece)
        if at % 2 and piece in PUBLIC_SLOTS:
            kind = MAKERS[PUBLIC_SLOTS[piece]][0]
            values.append(Value(kind, len(text), len(text) + len(written)))
        text += written
    return Sentence(text, tuple(values))


def _fill_slot(rng: random.Random, slot: str) -> str:
    if slot in PUBLIC_SLOTS:
        return MAKERS[PUBLIC_SLOTS[slot]][1](rng)
    if slot in OTHER_SLOTS:
        return made_up_values.make_decoy(rng, OTHER_SLOTS[slot])
    if slot in ("age", "building_number", "year"):
        return str(rng.randint(1, 99) + (1950 if slot == "year" else 0))
    return rng.choice([*made_up_values.FIRST_NAMES, *made_up_values.LAST_NAMES]).title()


def audit(sentences: Sequence[Sentence]) -> Audit:
    found = Audit({kind: Counts() for kind, _ in MAKERS.values()}, [], [])
    for sentence in sentences:
        data = find_personal_data(sentence.text, list(found.counts))
        for value in sentence.values:
            counts = found.counts[value.kind]
            counts.num_values += 1
            is_found = any(
                one.kind == value.kind and one.start <= value.start and one.end >= value.end
                for one in data
            )
            counts.num_found += is_found
            if not is_found:
                found.missed.append(f"{value.kind}: {sentence.text!r}")
        for one in data:
            if not any(
                one.start < value.end and one.end > value.start for value in sentence.values
            ):
                found.counts[one.kind].num_false += 1
                found.false.append(
                    f"{one.kind}: {sentence.text[one.start : one.end]!r} in {sentence.text!r}"
                )
    return found


def describe(title: str, sentences: Sequence[Sentence]) -> str:
    start = time.process_time()
    result = audit(sentences)
    took_ms = (time.process_time() - start) * 1000 / len(sentences)
    lines = [
        f"| {title} | values | missed | recall | false finds | precision |",
        "|---|---|---|---|---|---|",
    ]
    for kind, counts in result.counts.items():
        if not counts.num_values and not counts.num_false:
            continue
        num_missed = counts.num_values - counts.num_found
        lines.append(
            f"| {kind} | {counts.num_values:,} | {num_missed} | {counts.recall:.3f} "
            f"| {counts.num_false} | {counts.precision:.3f} |"
        )
    show(result.missed, "missed")
    show(result.false, "false")
    lines.append("")
    lines.append(f"{len(sentences):,} sentences, {took_ms:.2f} ms each ({machine.cpu_model()}).")
    return "\n".join(lines) + "\n"


def show(examples: Sequence[str], title: str) -> None:
    for example in random.Random(SEED).sample(examples, min(NUM_SHOWN, len(examples))):
        print(f"{title}: {example}")


def _lines(texts: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in texts.strip().splitlines()]


def _with_dashes(ssn: str) -> str:
    digits = re.sub("[^0-9]", "", ssn)
    return f"{digits[:3]}-{digits[3:5]}-{digits[5:]}"


if __name__ == "__main__":
    main()
