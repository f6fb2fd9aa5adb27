"""Reads messages and documents before a model does: rules, then the classifier, then a judge.

`redact` takes out personal data first, so nothing behind it sees any. A policy says what follows
from what is found. Each check may add reasons; the most severe outcome counts.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec
from msgspec import UNSET

from hitsend.safety.answer_scan import AnswerScan
from hitsend.safety.classifier import Classifier, Verdict
from hitsend.safety.disguises import undo_disguises
from hitsend.safety.heads import CATEGORIES, Category, Head
from hitsend.safety.judge import Judgement
from hitsend.safety.policy import (
    HELP_CATEGORIES,
    SEVERITY,
    Action,
    Concern,
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
        if verdict is not None:
            findings += await _from_verdict(verdict, text, policy, judge)
        return _conclude("prompt", findings, policy, began, is_complete=is_complete)

    async def screen_document(self, text: str, policy: Policy) -> Screening:
        """For text of strangers: does it give orders to the model?"""
        began = time.perf_counter()
        findings = await _match(text, "document", policy)
        verdict = await self.classify(text)
        if verdict is not None and verdict.decisions.get("injection") == "block":
            findings.append(_finding("injection", verdict, policy))
        is_complete = self._is_complete(verdict)
        return _conclude("document", findings, policy, began, is_complete=is_complete)

    def begin_answer(self, policy: Policy, *, is_doubtful: bool) -> AnswerScan:
        longest = max(map(len, policy.denied), default=0)
        is_alarmed = is_doubtful and self.classifier is not None
        return AnswerScan(None, 1.0, is_alarmed=is_alarmed, min_lag_chars=longest)

    async def judge_answer(self, text: str, policy: Policy) -> Screening:
        """For the newest sentence of an answer, with what was said before it."""
        began = time.perf_counter()
        findings = await _match(text, "answer", policy)
        verdict = await self.classify(text)
        if verdict is not None and verdict.decisions.get("answer harm") == "block":
            worst = _top_category(verdict)
            reason = SafetyReason("classifier", worst, round(verdict.scores["answer harm"], 3))
            findings.append(Finding(policy.action_for(worst), reason))
        is_complete = self._is_complete(verdict)
        return _conclude("answer", findings, policy, began, is_complete=is_complete)

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
    findings = [_finding(one, verdict, policy) for one in _concerns(sure, verdict)]
    is_unsure = "ask" in (verdict.decisions.get("harm"), verdict.decisions.get("jailbreak"))
    if "jailbreak" in sure and verdict.decisions.get("harm") == "ask":
        worst = _top_category(verdict)
        findings.append(Finding(policy.action_for(worst), _reason(worst, verdict)))
    elif is_unsure and not findings:
        findings.append(await _decide_unsure(verdict, text, policy, judge))
    return findings


async def _decide_unsure(
    verdict: Verdict, text: str, policy: Policy, judge: Judge | None
) -> Finding:
    worst: Concern = "jailbreak"
    if verdict.decisions.get("harm") == "ask":
        worst = _top_category(verdict)
    unsure = Finding(policy.unsure, _reason(worst, verdict))
    if judge is None or not policy.uses_judge:
        return unsure
    judgement = await judge(text)
    if judgement is None or judgement.is_harmful is None:
        return unsure
    if not judgement.is_harmful:
        return Finding("allow", _judged(worst, judgement))
    category = judgement.category
    concern = category if category in CATEGORIES else worst
    return Finding(policy.action_for(concern), _judged(concern, judgement))


def _concerns(sure: Sequence[Head], verdict: Verdict) -> Iterator[Concern]:
    """What the text is surely about. `harm` alone stands for its likeliest category."""
    categories = [head for head in CATEGORIES if head in sure]
    if "harm" in sure and not categories:
        categories = [_top_category(verdict)]
    yield from sorted(categories, key=lambda one: -verdict.scores[one])
    if "jailbreak" in sure:
        yield "jailbreak"


def _top_category(verdict: Verdict) -> Category:
    return max(CATEGORIES, key=lambda one: verdict.scores[one])


def _finding(concern: Concern, verdict: Verdict, policy: Policy) -> Finding:
    return Finding(policy.action_for(concern), _reason(concern, verdict))


def _reason(concern: Concern, verdict: Verdict) -> SafetyReason:
    score = max(verdict.scores[concern], verdict.scores["harm"] if concern in CATEGORIES else 0.0)
    return SafetyReason("classifier", concern, round(score, 3))


def _judged(concern: Concern, judgement: Judgement) -> SafetyReason:
    confidence = UNSET if judgement.confidence is None else round(judgement.confidence, 3)
    return SafetyReason("judge", concern, confidence)


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
        has_help=any(reason.name in HELP_CATEGORIES for reason in reasons),
    )
