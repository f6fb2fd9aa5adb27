"""Reads messages and documents before a model does: rules, then the classifier, then a judge.

`redact` takes out personal data first, so nothing behind it sees any. A policy says what follows
from what is found. Each check may add reasons; the most severe outcome counts.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec
from msgspec import UNSET

from hitsend.safety.answer_scan import AnswerScan
from hitsend.safety.classifier import Classifier, Verdict
from hitsend.safety.disguises import undo_disguises
from hitsend.safety.heads import CATEGORIES, Head
from hitsend.safety.judgement import Judgement
from hitsend.safety.policy import (
    CONCERNS,
    HELP_CATEGORIES,
    SEVERITY,
    Action,
    Outcome,
    Policy,
    Route,
    SafetyReason,
    Screening,
)
from hitsend.safety.redaction import Redacted, redact
from hitsend.safety.rules import Stage, match_rules

TIMEOUT_S = 5.0
"""For the classifier. A message is judged without it then, and the record says so."""
UNAVAILABLE = "unavailable"
"""The reason for a block where nothing is answered without the classifier."""
ALLOWED, DENIED = "allowed_phrase", "denied_phrase"
"""The reasons given by phrases that an administrator chose."""
MIN_WORDS = 3
"""Of one word or two, such as `go on`, the classifier knows too little to be unsure."""
MAX_INLINE_CHARS = 2_000
"""A longer text is matched with the rules in a thread."""

Judge: TypeAlias = Callable[[str], Awaitable[Judgement | None]]


class Finding(msgspec.Struct, frozen=True):
    action: Action
    reason: SafetyReason


class Screener:
    """Works on text alone. `key` makes the placeholders of redacted data."""

    def __init__(
        self,
        classifier: Classifier | None,
        key: bytes,
        *,
        needs_classifier: bool = True,
    ) -> None:
        """Where a classifier is needed, a text that it did not read is marked as such."""
        self.classifier = classifier
        self._key = key
        self._needs_classifier = needs_classifier

    def redact(self, text: str, policy: Policy, user_id: str) -> Redacted:
        """The same value has the same placeholder in all messages of a person."""
        key = hashlib.blake2b(user_id.encode(), key=self._key).digest()
        return redact(text, policy.redacted, key)

    async def screen_prompt(
        self, text: str, policy: Policy, route: Route = "chat", judge: Judge | None = None
    ) -> Screening:
        began = time.perf_counter()
        findings = await _match(text, "prompt", policy)
        if any(one.action in ("block", "allow") for one in findings):
            return _conclude("prompt", findings, policy, began)
        verdict = await self.classify(text)
        is_complete = self._is_complete(verdict)
        if not is_complete and route in policy.fails_closed:
            findings.append(Finding("block", SafetyReason("classifier", UNAVAILABLE)))
        if verdict is not None and not (_needs_help(findings) and not _has_read(verdict)):
            findings += await _from_verdict(verdict, text, policy, judge)
        return _conclude("prompt", findings, policy, began, is_complete=is_complete)

    async def screen_document(self, text: str, policy: Policy) -> Screening:
        """For text of strangers: does it give orders to the model?"""
        began = time.perf_counter()
        findings = await _match(text, "document", policy)
        verdict = await self.classify(text)
        if verdict is not None and verdict.decisions.get("injection") == "block":
            findings.append(_find("injection", verdict, policy))
        is_complete = self._is_complete(verdict)
        return _conclude("document", findings, policy, began, is_complete=is_complete)

    def begin_answer(self, policy: Policy, *, is_doubtful: bool) -> AnswerScan:
        longest = max(map(len, policy.denied), default=0)
        if self.classifier is None:
            return AnswerScan(None, 1.0, min_lag_chars=longest)
        score, alarm = self.classifier.begin_answer()
        return AnswerScan(score, alarm, is_alarmed=is_doubtful, min_lag_chars=longest)

    async def judge_answer(self, text: str, policy: Policy) -> Screening:
        """For the newest sentence of an answer, with what was said before it."""
        began = time.perf_counter()
        findings = await _match(text, "answer", policy)
        verdict = await self.classify(text)
        if verdict is not None and verdict.decisions.get("answer harm") == "block":
            worst = _top_concern(verdict)
            reason = SafetyReason("classifier", worst, round(verdict.scores["answer harm"], 3))
            findings.append(Finding(_action(worst, policy), reason))
        is_complete = self._is_complete(verdict)
        return _conclude("answer", findings, policy, began, is_complete=is_complete)

    async def is_refusal(self, text: str) -> bool:
        """Whether a model declines with this beginning of its answer."""
        verdict = await self.classify(text)
        return verdict is not None and verdict.decisions.get("refusal") == "block"

    def _is_complete(self, verdict: Verdict | None) -> bool:
        return not self._needs_classifier if verdict is None else verdict.is_complete

    async def classify(self, text: str) -> Verdict | None:
        """Returns None if there is no classifier, or it takes too long."""
        if self.classifier is None:
            return None
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self.classifier.classify(text)
        except TimeoutError:
            return None


def find_phrase(text: str, phrases: tuple[str, ...]) -> int | None:
    """Returns where one of the phrases begins, as words and in any case. A disguised one counts as
    if it began the text."""
    if not phrases:
        return None
    pattern = _compile_phrases(phrases)
    if found := pattern.search(text):
        return found.start()
    return 0 if pattern.search(undo_disguises(text)) else None


@lru_cache(maxsize=64)
def _compile_phrases(phrases: tuple[str, ...]) -> re.Pattern[str]:
    words = (r"\s+".join(map(re.escape, phrase.split())) for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)


async def _match(text: str, stage: Stage, policy: Policy) -> list[Finding]:
    if len(text) <= MAX_INLINE_CHARS:
        return list(_from_rules(text, stage, policy))
    return await asyncio.to_thread(lambda: list(_from_rules(text, stage, policy)))


def _from_rules(text: str, stage: Stage, policy: Policy) -> Iterator[Finding]:
    """What administrators deny outweighs what they allow, and that outweighs the shipped rules."""
    if find_phrase(text, policy.denied) is not None:
        yield Finding("block", SafetyReason("rule", DENIED))
    elif stage == "prompt" and find_phrase(text, policy.allowed) is not None:
        yield Finding("allow", SafetyReason("rule", ALLOWED))
    else:
        for hit in match_rules(text, stage):
            reason = SafetyReason("rule", hit.category or hit.rule_id, rule=hit.rule_id)
            yield Finding(hit.action, reason)


async def _from_verdict(
    verdict: Verdict, text: str, policy: Policy, judge: Judge | None
) -> Sequence[Finding]:
    sure = [head for head, decision in verdict.decisions.items() if decision == "block"]
    if not _has_read(verdict):
        return [_find("harm", verdict, policy)] if "harm" in sure else []
    findings = [_find(concern, verdict, policy) for concern in _concerns(sure, verdict)]
    if verdict.decisions.get("harm") != "ask":
        return findings
    if "jailbreak" in sure:
        findings.append(_find(_top_concern(verdict), verdict, policy))
    elif not findings and len(text.split()) >= MIN_WORDS:
        findings.append(await _decide_unsure(verdict, text, policy, judge))
    return findings


def _needs_help(findings: Iterable[Finding]) -> bool:
    return any(one.reason.name in HELP_CATEGORIES for one in findings)


def _has_read(verdict: Verdict) -> bool:
    """Whether the encoder read the text. The n-grams alone are believed only where they are sure
    of harm."""
    return any(category in verdict.scores for category in CATEGORIES)


async def _decide_unsure(
    verdict: Verdict, text: str, policy: Policy, judge: Judge | None
) -> Finding:
    worst = _top_concern(verdict)
    unsure = Finding(policy.unsure, _reason(worst, verdict))
    if judge is None or not policy.uses_judge:
        return unsure
    judgement = await judge(text)
    if judgement is None or judgement.is_harmful is None:
        return unsure
    confidence = UNSET if judgement.confidence is None else round(judgement.confidence, 3)
    concern = next((one for one in CATEGORIES if one == judgement.category), worst)
    action = _action(concern, policy) if judgement.is_harmful else "allow"
    return Finding(action, SafetyReason("judge", concern, confidence))


def _concerns(sure: Sequence[Head], verdict: Verdict) -> Iterator[Head]:
    """What the text is surely about. `harm` alone stands for its likeliest category."""
    categories: list[Head] = [head for head in CATEGORIES if head in sure]
    if "harm" in sure and not categories:
        categories = [_top_concern(verdict)]
    yield from sorted(categories, key=lambda one: -verdict.scores[one])
    if "jailbreak" in sure:
        yield "jailbreak"


def _top_concern(verdict: Verdict) -> Head:
    """The likeliest category. The n-grams alone know none."""
    known = [one for one in CATEGORIES if one in verdict.scores]
    return max(known, key=lambda one: verdict.scores[one], default="harm")


def _find(concern: Head, verdict: Verdict, policy: Policy) -> Finding:
    return Finding(_action(concern, policy), _reason(concern, verdict))


def _action(concern: Head, policy: Policy) -> Action:
    """Harm of no known category is blocked."""
    known = next((one for one in CONCERNS if one == concern), None)
    return "block" if known is None else policy.action_for(known)


def _reason(concern: Head, verdict: Verdict) -> SafetyReason:
    is_category = concern in CATEGORIES
    score = max(verdict.scores[concern], verdict.scores["harm"] if is_category else 0.0)
    return SafetyReason("classifier", concern, round(score, 3))


def _conclude(
    stage: Stage,
    findings: Sequence[Finding],
    policy: Policy,
    began: float,
    *,
    is_complete: bool = True,
) -> Screening:
    """Puts the reason first that decided."""
    worst_first = sorted(findings, key=lambda one: -SEVERITY[one.action])
    outcome: Outcome = worst_first[0].action if worst_first else "allow"
    reasons = tuple(one.reason for one in worst_first)
    return Screening(
        stage,
        outcome,
        reasons,
        took_ms=round((time.perf_counter() - began) * 1000, 2),
        is_complete=is_complete,
        is_queued=outcome == "review" or (outcome == "block" and policy.reviews_blocks),
        has_help=_needs_help(findings),
    )
