"""Step 9, guard: the safety checks read the answer before anybody is shown it.

Texts wait in a queue until they have passed. A calm answer runs on a few words behind the model;
one that raises suspicion is held back to the end of each sentence, which the classifier judges.
Leaks are replaced. An answer that may not go on ends there, and its generation is stopped.
"""

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from functools import cached_property

from msgspec import UNSET

from hitsend.context.window import Context
from hitsend.errors import HitsendError
from hitsend.events import AnswerGuarded, AnyEvent, TextArrived, TextEnd, join_texts
from hitsend.mailbox import Mailbox
from hitsend.messages import Message, Text, ToolResult
from hitsend.safety.answer_scan import NUM_CONTEXT_CHARS, find_sentence_start
from hitsend.safety.leaks import Leak, LeakFinder, rewrite
from hitsend.safety.open_ends import find_open_end
from hitsend.safety.policy import MAX_PHRASE_CHARS, Outcome, Policy, SafetyReason, Screening
from hitsend.safety.refusals import is_refusal, may_be_refusal
from hitsend.safety.screener import DENIED, Screener, find_phrase

NUM_REFUSAL_CHARS = 600
PAUSE_S = 0.25
MAX_WORD_DIGITS = 3
PRIVATE_KEY = "-----BEGIN"
"""A long one cannot be replaced before its end is known: the answer ends."""


class Guard:
    """Reads the rounds of one answer. Where it has blocked, the turn ends."""

    def __init__(self, screener: Screener | None, policy: Policy, *, is_doubtful: bool) -> None:
        self.has_blocked = False
        self._screener = screener if policy.watches_answers else None
        self._policy = policy
        self._is_doubtful = is_doubtful or policy.holds_sentences

    async def may_show(self, text: str) -> bool:
        """For a short text of a model, such as a title."""
        if self._screener is None:
            return True
        found = await self._screener.judge_answer(text, self._policy)
        return found.outcome != "block"

    async def watch(
        self, events: AsyncGenerator[AnyEvent, None], context: Context
    ) -> AsyncGenerator[AnyEvent, None]:
        """Yields the events of a round as far as they pass."""
        async with aclosing(events):
            if self._screener is None:
                async for event in events:
                    yield event
                return
            watch = _Watch(self._screener, self._policy, context, is_doubtful=self._is_doubtful)
            async with aclosing(_with_pauses(events)) as timed:
                try:
                    async for event_or_pause in timed:
                        for passed in await watch.add(event_or_pause):
                            yield passed
                        if watch.has_blocked:
                            break
                except HitsendError:  # the engine was lost: what it had said is kept
                    for passed in await watch.finish():
                        yield passed
                    raise
            if not watch.has_blocked:
                for passed in await watch.finish():
                    yield passed
            self.has_blocked = watch.has_blocked


async def _with_pauses(
    events: AsyncGenerator[AnyEvent, None],
) -> AsyncGenerator[AnyEvent | None, None]:
    """Yields None once in each pause: what is held then passes without what would follow it."""
    loop = asyncio.get_running_loop()
    arrived: Mailbox[AnyEvent | None] = Mailbox()
    pump = asyncio.create_task(_pump(events, arrived))
    pump.add_done_callback(lambda _: arrived.put_nowait(None))
    is_pause = True
    try:
        while True:
            timer = None if is_pause else loop.call_later(PAUSE_S, arrived.put_nowait, None)
            event = await arrived.get()
            if timer is not None:
                timer.cancel()
            if event is None and pump.done() and arrived.empty():
                break
            is_pause = event is None
            yield event
        await pump
    finally:
        pump.cancel()
        await asyncio.wait({pump})


async def _pump(events: AsyncGenerator[AnyEvent, None], arrived: Mailbox[AnyEvent | None]) -> None:
    async for event in events:
        arrived.put_nowait(event)


class _Watch:
    """Over one round."""

    def __init__(
        self, screener: Screener, policy: Policy, context: Context, *, is_doubtful: bool
    ) -> None:
        self.has_blocked = False
        self._screener = screener
        self._policy = policy
        self._context = context
        self._scan = screener.begin_answer(policy, is_doubtful=is_doubtful)
        self._held: deque[tuple[int, TextArrived]] = deque()
        """Texts that have not passed, each with the place in the scan where it ends."""
        self._num_passed = 0
        """The place up to which texts have passed."""
        self._shown: list[str] = []
        self._leaks: list[Leak] = []
        """Those that are still held."""
        self._num_searched = 0
        """How far leaks were looked for."""
        self._open_start = 0
        """From where the text may be the beginning of a leak."""
        self._reasons: dict[str, SafetyReason] = {}
        self._outcome: Outcome = "allow"
        self._took_s = 0.0
        self._is_complete = True

    async def add(self, event: AnyEvent | None) -> list[AnyEvent]:
        """None is a pause."""
        if event is None:
            return await self._pass_texts(is_pause=True)
        if not isinstance(event, TextArrived):
            passed = await self._pass_texts(is_last=True)
            return passed if self.has_blocked else [*passed, event]
        text = (event.reasoning or "") + event.text
        if not text and not event.tokens:
            return [event]  # a beam search counts what it tries
        self._scan.add(text)
        # Tokens without a text belong to one that is still to come.
        self._held.append((len(self._scan.text) + (not text), event))
        return await self._pass_texts()

    async def finish(self) -> list[AnyEvent]:
        passed = await self._pass_texts(is_last=True)
        if not self.has_blocked:
            if await self._has_declined("".join(self._shown)):
                self._reasons["refusal"] = SafetyReason("refusal", "refusal")
            if self._reasons or not self._is_complete:
                passed.append(AnswerGuarded(self._screening()))
        return passed

    async def _has_declined(self, text: str) -> bool:
        if is_refusal(text):
            return True
        return may_be_refusal(text) and await self._screener.is_refusal(text[:NUM_REFUSAL_CHARS])

    async def _pass_texts(self, *, is_last: bool = False, is_pause: bool = False) -> list[AnyEvent]:
        scan = self._scan
        if is_last or is_pause:
            scan.finish()
        while scan.is_alarmed and (sentence := scan.next_sentence(is_last=is_last)):
            if await self._is_harmful(sentence.text):
                return self._block(scan.num_passed)
            scan.pass_sentence(sentence)
        if not scan.is_alarmed:
            scan.pass_calm(is_last=is_last, is_pause=is_pause)
        if scan.num_scanned > self._num_searched:
            offence = self._find_offence()
            if offence is not None:
                return self._block(offence)
        is_whole = is_last or (is_pause and _is_plain_word(scan.text[self._open_start :]))
        end = scan.num_passed if is_whole else min(scan.num_passed, self._open_start)
        return list(self._take(end + is_last))

    async def _is_harmful(self, text: str) -> bool:
        began = time.perf_counter()
        judged = await self._screener.judge_answer(text, self._policy)
        self._took_s += time.perf_counter() - began
        self._is_complete &= judged.is_complete
        for reason in judged.reasons:
            self._reasons[reason.name] = reason
        if judged.outcome == "review":
            self._outcome = "review"
        return judged.outcome == "block"

    def _find_offence(self) -> int | None:
        """Looks for leaks and denied phrases in what has not passed. Returns where the answer may
        not go on; a leak that can be replaced is none."""
        scan, start = self._scan, self._num_passed
        self._num_searched = scan.num_scanned
        text = scan.text[start : scan.num_scanned]
        self._open_start = start + find_open_end(text)
        before = scan.text[max(start - NUM_CONTEXT_CHARS, 0) : start]
        self._leaks = [_shift(leak, start) for leak in self._leak_finder.find(text, before)]
        for leak in self._leaks:
            is_long_key = scan.text.startswith(PRIVATE_KEY, leak.start)
            if leak.kind == "instructions" or is_long_key:
                self._reasons[leak.kind] = SafetyReason("leak", leak.kind)
                return leak.start
        ending = before[-MAX_PHRASE_CHARS:]
        at = find_phrase(ending + text, self._policy.denied)
        if at is not None:
            self._reasons[DENIED] = SafetyReason("rule", DENIED)
            return max(start - len(ending) + at, 0)
        return None

    def _take(self, end: int) -> Iterator[AnyEvent]:
        """Takes the texts that end here or before, with leaks replaced."""
        while self._held and self._held[0][0] <= end:
            place, event = self._held.popleft()
            leak = next((one for one in self._leaks if one.start < place), None)
            if leak is not None:
                while self._held and place < leak.end:
                    place, more = self._held.popleft()
                    event = join_texts((event, more))
                event = self._replace_leaks(event, place)
            self._num_passed = min(place, len(self._scan.text))
            self._shown.append(event.text)
            yield event

    def _replace_leaks(self, event: TextArrived, end: int) -> TextArrived:
        here = [one for one in self._leaks if one.start < end]
        self._leaks = [one for one in self._leaks if one.start >= end]
        for leak in here:
            self._reasons[leak.kind] = SafetyReason("leak", leak.kind)
        self._outcome = "rewrite"
        own = [_shift(one, -self._num_passed) for one in here]
        shown = rewrite(self._scan.text[self._num_passed : end], own)
        if event.reasoning:  # a leak in a thought does not become part of the answer
            return TextArrived("", reasoning=shown, thought_ms=event.thought_ms)
        return TextArrived(shown)

    def _block(self, offence: int) -> list[AnyEvent]:
        """Ends the answer before the sentence with the offence."""
        self.has_blocked = True
        end = find_sentence_start(self._scan.text[:offence])
        passed = list(self._take(end))
        if self._held and self._num_passed < end and not self._held[0][1].reasoning:
            rest = TextArrived(self._scan.text[self._num_passed : end])
            self._shown.append(rest.text)
            passed.append(rest)
        self._held.clear()
        shown = "".join(self._shown)
        kept = shown[:end].rstrip()
        self._outcome = "cut" if kept else "block"
        cut = TextEnd(len(kept), hashlib.sha256(kept.encode()).hexdigest())
        return [*passed, AnswerGuarded(self._screening(), cut if kept != shown else UNSET)]

    def _screening(self) -> Screening:
        reasons = tuple(self._reasons.values())[::-1]
        is_blocked = self._outcome in ("cut", "block")
        return Screening(
            "answer",
            self._outcome,
            reasons,
            took_ms=round(self._took_s * 1000, 2),
            is_complete=self._is_complete,
            is_queued=self._outcome == "review" or (is_blocked and self._policy.reviews_blocks),
        )

    @cached_property
    def _leak_finder(self) -> LeakFinder:
        """The operator's instructions are hidden, but not ours about safety, nor what people wrote
        about themselves. An API call brings its own instructions."""
        context = self._context
        said = (*(m for one in context.exchanges for m in one.messages), *context.question)
        profile = [part.text for part in _texts(context.system) if part.source == "profile"]
        written = [one.own_text for one in said if one.role == "user"]
        seen = "\n".join(map(_readable_text, said))
        return LeakFinder([context.instructions], "\n".join([*profile, *written]), seen)


def _is_plain_word(text: str) -> bool:
    """Whether it is no address, key or number that goes on, as far as one can tell."""
    return text.isalnum() and sum(map(str.isdigit, text)) <= MAX_WORD_DIGITS


def _texts(messages: Iterable[Message]) -> Iterator[Text]:
    return (part for one in messages for part in one.parts if isinstance(part, Text))


def _readable_text(message: Message) -> str:
    """What a person could read of a message, or of the notes beside it."""
    outputs = (part.output for part in message.parts if isinstance(part, ToolResult))
    return "\n".join([message.text, *outputs])


def _shift(leak: Leak, by: int) -> Leak:
    return leak._replace(start=leak.start + by, end=leak.end + by)
