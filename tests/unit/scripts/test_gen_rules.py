"""The lock of the safety rules: a rule changes together with its version and its cases."""

from scripts.gen_rules import Locked, find_problems, format_lock, parse_lock

BEFORE = {"greeting": Locked(2, "aaaa", "cccc")}


def test_a_changed_rule_needs_a_new_version_and_a_new_case() -> None:
    problems = find_problems(BEFORE, {"greeting": Locked(2, "bbbb", "cccc")})
    assert problems == [
        "greeting: the rule has changed. Make its version 3.",
        "greeting: the rule has changed. Add a case that shows how.",
    ]
    assert find_problems(BEFORE, {"greeting": Locked(3, "bbbb", "cccc")}) == [problems[1]]
    assert find_problems(BEFORE, {"greeting": Locked(2, "bbbb", "dddd")}) == [problems[0]]
    assert find_problems(BEFORE, {"greeting": Locked(3, "bbbb", "dddd")}) == []


def test_cases_may_change_alone() -> None:
    assert find_problems(BEFORE, {"greeting": Locked(2, "aaaa", "dddd")}) == []


def test_a_version_does_not_go_back() -> None:
    assert find_problems(BEFORE, {"greeting": Locked(1, "aaaa", "cccc")}) == [
        "greeting: version 1 was 2 before."
    ]


def test_new_and_removed_rules_are_fine() -> None:
    assert find_problems(BEFORE, {"farewell": Locked(1, "aaaa", "cccc")}) == []


def test_the_lock_is_read_as_it_is_written() -> None:
    assert parse_lock(format_lock(BEFORE)) == BEFORE
