"""Rules: patterns and phrases that decide, or give a hint, before any model is asked.

Those that come with hitsend are files in `rules/`, each with a version and with cases: texts that
it must match, and texts that it must not. Administrators add their own, as allow and deny lists. A
rule that blocks outweighs everything; one that allows outweighs the classifier.

`make check` fails if a rule has changed but not its version and its cases (`rules.lock`).
"""

import hashlib
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from hitsend.errors import Refused
from hitsend.safety.disguises import undo_disguises
from hitsend.safety.heads import Head
from hitsend.safety.pattern_cost import MAX_WAYS, count_ways

Stage: TypeAlias = Literal["prompt", "document", "answer"]
"""What is read: what a person wrote, what strangers wrote, or what a model answers."""
RuleAction: TypeAlias = Literal["block", "allow", "review", "caution"]
ACTIONS: tuple[RuleAction, ...] = ("block", "allow", "review", "caution")
"""The strongest first."""

MAX_PATTERN_CHARS = 500
MAX_PATTERNS = 200
MAX_TEXT_CHARS = 200_000
"""Text beyond is not examined."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    matches: bool


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    id: str = ""
    """The name of its file, or what an administrator called it."""
    version: int = 1
    about: str
    action: RuleAction
    stages: tuple[Stage, ...]
    category: Head | None = None
    patterns: tuple[str, ...] = ()
    """Regular expressions in which every repetition is bounded. Case does not matter."""
    phrases: tuple[str, ...] = ()
    """Whole words."""
    reads: Literal["plain", "raw"] = "plain"
    """`raw` is the text as it came. `plain` is the text with disguises undone, in which all space
    is one blank."""
    cases: tuple[Case, ...] = ()


class RuleHit(NamedTuple):
    rule_id: str
    version: int
    action: RuleAction
    category: Head | None


class RuleSet:
    """Rules that are ready to be matched."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._patterns = [_join_patterns(rule) for rule in rules]

    def match(self, text: str, stage: Stage) -> list[RuleHit]:
        raw = text[:MAX_TEXT_CHARS]
        texts = {"raw": raw, "plain": " ".join(undo_disguises(raw).split())}
        return [
            RuleHit(rule.id, rule.version, rule.action, rule.category)
            for rule, pattern in zip(self.rules, self._patterns, strict=True)
            if stage in rule.stages and pattern.search(texts[rule.reads])
        ]


def match_rules(text: str, stage: Stage) -> list[RuleHit]:
    """Matches the rules that come with hitsend."""
    return shipped_rules().match(text, stage)


def find_strongest(hits: Iterable[RuleHit]) -> RuleHit | None:
    return min(hits, key=lambda hit: ACTIONS.index(hit.action), default=None)


def compile_rules(rules: Sequence[Rule]) -> RuleSet:
    """Raises Refused for a rule that is not valid or that could be slow."""
    for rule in rules:
        _check_rule(rule)
    return RuleSet(rules)


@cache
def shipped_rules() -> RuleSet:
    folder = files("hitsend.safety").joinpath("rules")
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return compile_rules([_read(path) for path in paths if path.name.endswith(".toml")])


def fingerprint(rule: Rule) -> tuple[str, str]:
    """Returns a hash of what a rule does, and one of its cases."""
    does = (rule.action, rule.stages, rule.category, rule.patterns, rule.phrases, rule.reads)
    return _hash(does), _hash(rule.cases)


def find_broken_cases(rule: Rule) -> list[str]:
    """Returns the problems of a rule's cases. It needs one that matches and one that does not."""
    rules, stage = compile_rules([rule]), rule.stages[0]
    problems = [
        f"{rule.id}: {case.text!r} {'does not match' if case.matches else 'matches'}."
        for case in rule.cases
        if bool(rules.match(case.text, stage)) != case.matches
    ]
    if {case.matches for case in rule.cases} != {True, False}:
        problems.append(f"{rule.id}: it needs a case that matches and one that does not.")
    return problems


def _read(path: Traversable) -> Rule:
    content = tomllib.loads(path.read_text("utf-8"))
    return msgspec.convert({**content, "id": path.name.removesuffix(".toml")}, Rule)


def _hash(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()


def _check_rule(rule: Rule) -> None:
    if not rule.patterns and not any(phrase.split() for phrase in rule.phrases):
        raise Refused(f"The rule {rule.id!r} has neither patterns nor phrases.")
    if not rule.stages:
        raise Refused(f"The rule {rule.id!r} names no stage.")
    if len(rule.patterns) + len(rule.phrases) > MAX_PATTERNS:
        raise Refused(f"The rule {rule.id!r} has more than {MAX_PATTERNS} patterns and phrases.")
    for pattern in (*rule.patterns, *rule.phrases):
        if len(pattern) > MAX_PATTERN_CHARS:
            raise Refused(f"A pattern has more than {MAX_PATTERN_CHARS} characters: {pattern!r}")
    for pattern in rule.patterns:
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise Refused(f"{pattern!r} is not a regular expression: {error}.") from error
    if compiled.match(""):
        raise Refused(f"{pattern!r} matches every text.")
    if (ways := count_ways(pattern)) > MAX_WAYS:
        reason = (
            "it repeats without an end" if ways == float("inf") else "it can match in many ways"
        )
        raise Refused(
            f"{pattern!r} could be slow: {reason}. Give each repetition a small limit, such as "
            "{0,20} in place of *, and repeat nothing that repeats."
        )


def _join_patterns(rule: Rule) -> re.Pattern[str]:
    words = [re.escape(" ".join(phrase.split())) for phrase in rule.phrases]
    phrases = rf"(?<!\w)(?:{'|'.join(sorted(filter(None, words), key=len, reverse=True))})(?!\w)"
    patterns = [*(f"(?:{pattern})" for pattern in rule.patterns), *([phrases] if words else [])]
    return re.compile("|".join(patterns), re.IGNORECASE)
