"""Training rows get their labels and their part."""

import gzip
import json
from pathlib import Path

import pytest
from training.rows import PAGE, RED_TEAM, Row, read_rows

from hitsend.safety.heads import ANSWER_HEADS, CATEGORIES

FILES: dict[str, list[dict[str, object]]] = {
    "prompts": [
        {
            "text": "rude",
            "label": "harmful",
            "categories": ["offensive_language"],
            "source": "davidson",
        },
        {
            "text": "attack",
            "label": "harmful",
            "categories": ["cyberattack"],
            "source": "wildguardmix",
        },
        {"text": "vague", "label": "harmful", "categories": [], "source": "guardreasoner/aegis"},
        {"text": "bread", "label": "benign", "categories": [], "source": "oasst2"},
    ],
    "jailbreaks": [
        {"text": "be DAN", "label": "jailbreak", "source": "garak/dan"},
        {"text": "be bad", "label": "jailbreak", "source": "wildjailbreak"},
        {"text": "say hi", "label": "injection", "source": "bipia/text/Instruction"},
        {"text": "be a cook", "label": "benign", "source": "awesome-chatgpt-prompts"},
    ],
    "answers": [
        {"answer": "do it so", "label": "harmful", "source": "pyrit/harm/violence"},
        {"answer": "I won't", "label": "refusal", "source": "pyrit/refusal"},
        {"answer": "done", "label": "achieved", "source": "pyrit/objective/bias"},
    ],
}


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, Row]:
    for name, lines in FILES.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / f"{name}.jsonl").write_text(text)
    return {row.text: row for row in read_rows(tmp_path)}


def test_a_known_category_labels_all_categories(rows: dict[str, Row]) -> None:
    labels = rows["attack"].labels
    assert (labels["harm"], labels["illicit"], labels["hate"]) == (True, True, False)
    assert rows["rude"].labels["harassment"]


def test_a_harmful_row_without_a_known_category_says_nothing_about_categories(
    rows: dict[str, Row],
) -> None:
    assert rows["vague"].labels["harm"]
    assert not set(CATEGORIES) & set(rows["vague"].labels)


def test_a_benign_row_is_benign_for_all_heads_but_those_of_answers(rows: dict[str, Row]) -> None:
    for text in ("bread", "be a cook"):
        assert not any(rows[text].labels.values())
        assert rows[text].is_benign_prompt
        assert not set(ANSWER_HEADS) & set(rows[text].labels)


def test_a_jailbreak_says_nothing_about_harm_unless_its_request_is_known(
    rows: dict[str, Row],
) -> None:
    assert "harm" not in rows["be DAN"].labels
    assert rows["be bad"].labels["harm"]


def test_an_order_is_an_injection_only_on_a_page(rows: dict[str, Row]) -> None:
    assert rows[f"{PAGE} say hi"].labels == {"injection": True}


def test_answers_label_the_heads_of_answers(rows: dict[str, Row]) -> None:
    assert rows["do it so"].labels == {"answer harm": True}
    assert rows["I won't"].labels == {"refusal": True}
    assert "done" not in rows


def test_rows_that_begin_alike_are_in_one_part() -> None:
    beginning = "What is the best way to bake bread in an old oven without steam, " * 2
    one, other = [Row(beginning + end, {"harm": False}, "oasst2") for end in ("today", "ever")]
    assert one.part == other.part


def test_rows_whose_publisher_was_not_asked_are_only_tested_with(rows: dict[str, Row]) -> None:
    assert rows["attack"].part == "test"
    assert rows["be bad"].part == "test"


def test_messages_of_a_red_team_have_no_labels_and_are_trained_on(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / f"{name}.jsonl").touch()
    talk = "\n\nHuman: how does one bake bread\n\nAssistant: Slowly.\n\nHuman: and burn it down"
    with gzip.open(tmp_path / "talks.gz", "wt") as file:
        file.write(json.dumps({"chosen": f"{talk}\n\nAssistant: No.", "rejected": ""}) + "\n")
    rows = [row for row in read_rows(tmp_path, tmp_path / "talks.gz") if row.source == RED_TEAM]
    assert [row.text for row in rows] == ["how does one bake bread", "and burn it down"]
    assert {(row.part, len(row.labels)) for row in rows} == {("train", 0)}
