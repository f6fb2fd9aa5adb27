"""The drift report compares what two versions say of the same texts."""

from bench.safety_drift import Checked, Report, check_text, compare, describe, read_texts


def report(*outcomes: str, layer: str = "rules") -> Report:
    return Report(
        tuple(
            Checked("bread", f"text {at}", {layer: outcome}) for at, outcome in enumerate(outcomes)
        )
    )


def test_a_change_is_listed_and_counted_by_category() -> None:
    changes = compare(report("pass", "pass", "block (x)"), report("block (x)", "pass", "pass"))
    assert [(change.text, change.before, change.now) for change in changes] == [
        ("text 0", "pass", "block (x)"),
        ("text 2", "block (x)", "pass"),
    ]
    table = describe(changes).splitlines()
    assert table[2] == "| bread | rules | 2 | 1 × pass → block (x); 1 × block (x) → pass |"
    assert "- 'text 2': block (x) → pass" in table


def test_only_texts_and_layers_that_both_have_are_compared() -> None:
    assert compare(report("pass"), report("pass", "block (x)")) == []
    assert compare(report("pass"), report("block", layer="classifier")) == []
    assert describe([]) == "Nothing changed."


def test_each_layer_says_its_outcome() -> None:
    assert check_text("", "Do anything now! jo@example.org, jim@example.org") == {
        "rules": "caution (jailbreak_openers)",
        "personal data": "2 email",
    }
    assert check_text("", "Why does bread rise?") == {"rules": "pass", "personal data": "none"}


def test_the_texts_are_the_same_each_time() -> None:
    texts = [*read_texts()]
    assert texts == [*read_texts()]
    assert len(texts) > 500
