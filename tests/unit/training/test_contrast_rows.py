"""Our own training rows: as many as said, varied, and the same with each run."""

import re
import tomllib
from collections import Counter

import pytest
from training.contrast_rows import FOLDER, ContrastRow, write_rows

from hitsend.safety.heads import HEADS


@pytest.fixture(scope="module")
def rows() -> list[ContrastRow]:
    return list(write_rows())


def test_there_are_many_thousand_different_rows(rows: list[ContrastRow]) -> None:
    assert len(rows) > 15_000
    assert len({row.text.casefold() for row in rows}) == len(rows)


def test_each_group_has_a_name_of_its_own_and_gives_the_rows_it_asks_for(
    rows: list[ContrastRow],
) -> None:
    groups = [
        group
        for path in FOLDER.glob("*.toml")
        for group in tomllib.loads(path.read_text())["group"]
    ]
    assert len({group["name"] for group in groups}) == len(groups)
    given = Counter(row.group for row in rows)
    assert given == {group["name"]: group["rows"] for group in groups}


def test_the_same_seed_gives_the_same_rows(rows: list[ContrastRow]) -> None:
    assert list(write_rows()) == rows
    assert [row.text for row in write_rows(seed=1)] != [row.text for row in rows]


def test_every_slot_is_filled(rows: list[ContrastRow]) -> None:
    prompts = [row.text for row in rows if row.kind == "prompt"]
    assert [text for text in prompts if re.search(r"\{[a-z_]+\}|\[[^\]]*\|", text)] == []


def test_labels_are_heads_and_every_head_has_rows(rows: list[ContrastRow]) -> None:
    labels = Counter(label for row in rows for label in row.labels)
    assert set(labels) == set(HEADS) - {"harm"}
    assert min(labels.values()) >= 60


def test_a_wording_with_another_greeting_is_no_row_of_its_own(rows: list[ContrastRow]) -> None:
    texts = {row.text.casefold().rstrip(".?!") for row in rows if row.kind == "prompt"}
    greeted = [text for text in texts if text.startswith("quick one: ")]
    assert greeted
    assert [text for text in greeted if text.removeprefix("quick one: ") in texts] == []


def test_harmless_prompts_are_about_as_many_as_harmful_ones(rows: list[ContrastRow]) -> None:
    prompts = [row for row in rows if row.kind == "prompt"]
    num_harmless = sum(not row.labels for row in prompts)
    assert 0.4 < num_harmless / len(prompts) < 0.6
