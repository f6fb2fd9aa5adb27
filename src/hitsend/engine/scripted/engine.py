"""An engine without a model: it plays a script, at the script's pace.

It ships with the product, for tests, benchmarks and work on the page. It returns everything a real
engine returns, consistently: ids, spans, probabilities, cached counts, delays, failures, a model
to download. `script` describes the script language.
"""

import asyncio
import time
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import accumulate

import msgspec
from cachetools import LRUCache

from hitsend.engine.beam_search.beam import BeamModel, beam_search
from hitsend.engine.contract import (
    EngineStatus,
    Finished,
    Generated,
    GenerationStep,
    ModelFacts,
    Offer,
    Preempted,
    Prefilled,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.decoding import decode
from hitsend.engine.encoding import split_partial_answer
from hitsend.engine.idle_queue import IdleQueue, collect_text
from hitsend.engine.scripted.next_token_probs import ScriptedNextTokenProbs
from hitsend.engine.scripted.playback import (
    PIECE,
    last_user_text,
    make_title,
    plan_pieces,
    play_batches,
    play_delays,
    select_script,
)
from hitsend.engine.scripted.script import Script
from hitsend.engine.scripted.weights import SMALL, ScriptedWeights
from hitsend.errors import Conflict, EngineDown, PromptTooLong, UnknownModel
from hitsend.events import Span
from hitsend.messages import (
    FREE,
    Alternative,
    AnswerRules,
    Attachment,
    Message,
    Part,
    PartialAnswer,
    Sampling,
    Source,
    Text,
    Thought,
    Token,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    part_source,
)

NAME = "scripted"
ROLES = ("system", "developer", "user", "assistant", "tool")
END_ID = len(ROLES)
FIRST_TEXT_ID, NUM_TEXT_IDS = 1000, 60_000
ALTERNATIVES = (
    " the", " a", " an", " it", " that", " this", " one", " so", " and", " but", " or", " if",
    ".", ",", "!", "?", ":", ";", "\n", "-",
)  # fmt: skip
NUM_SLOTS = 1024
MAX_CACHED_PREFIXES = 4096


class ScriptedEngine:
    def __init__(
        self,
        answers: Iterable[Script] = (),
        num_window_tokens: int = 8192,
        idle_answers: Iterable[Script] = (),
        read_s: float = 0.0,
        has_room: bool = False,
    ) -> None:
        """Plays `answers` first, in order; then each message is its own script. Likewise
        `generate_when_idle` returns `idle_answers` first, then titles. `prefill` takes `read_s`.
        `has_room` lets `generate_beside` run beside answers."""
        self._answers = deque(answers)
        self._idle_answers = deque(idle_answers)
        self._read_s = read_s
        self._idle_queue = IdleQueue()
        self._num_busy = 0
        self._cached = LRUCache[int, None](MAX_CACHED_PREFIXES)
        self._facts = ModelFacts(
            name=NAME,
            title="Scripted",
            num_window_tokens=num_window_tokens,
            level="tokens",
            where="here",
            can_call_tools=True,
            is_default=True,
            good_at=("short_answers", "tools"),
            has_next_token_probs=True,
            has_room_beside=has_room,
            is_exact=True,
        )
        self._small = ScriptedWeights()

    async def start(self) -> None:
        """Does nothing: there is no model to load."""

    async def close(self) -> None:
        await self._small.remove()

    def status(self) -> EngineStatus:
        return EngineStatus(
            "ready",
            "The script is ready.",
            self._num_busy,
            NUM_SLOTS,
            downloads=self._small.downloads,
        )

    async def models(self) -> Sequence[ModelFacts]:
        return [self._facts, self._small_facts] if self._small.is_here else [self._facts]

    async def offers(self) -> Sequence[Offer]:
        return [self._small.offer]

    async def fetch(self, name: str) -> None:
        if name != SMALL:
            raise UnknownModel(f"There is no model {name!r} to fetch. There is: {SMALL}.")
        self._small.start()

    async def remove(self, name: str) -> None:
        if name in ("", "auto", NAME):
            raise Conflict("The script is the default model and cannot be removed.")
        if name != SMALL or not await self._small.remove():
            raise UnknownModel(f"{name!r} is not on this machine.", param="model")

    async def require_ready(self, name: str) -> None:
        await self.resolve(name)

    async def resolve(self, name: str) -> ModelFacts:
        wanted = name if name not in ("", "auto") else NAME
        found = {facts.name: facts for facts in await self.models()}
        if wanted not in found:
            names = ", ".join(found)
            raise UnknownModel(
                f"There is no model {name!r} here. There is: {names}.", param="model"
            )
        return found[wanted]

    async def encode(
        self,
        model: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        rules: AnswerRules = FREE,
    ) -> Prompt:
        facts = await self.resolve(model)
        ids: list[int] = []
        spans: list[Span] = []
        for source, index, new in _segments(messages, tools):
            ids += new
            if new:
                spans.append(Span(source, index, len(new)))
        return Prompt(
            model=facts.name,
            num_tokens=len(ids),
            num_window_tokens=facts.num_window_tokens,
            is_exact=True,
            spans=tuple(spans),
            ids=tuple(ids),
            messages=tuple(messages),
            tools=tuple(tools),
            rules=rules,
        )

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        await self.resolve(model)
        pieces = PIECE.findall(text)
        return TokenizedText(
            tuple(map(_text_id, pieces)), tuple(piece.encode() for piece in pieces)
        )

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]:
        """Looks the text up in the prompt's own messages, because the ids are hashes."""
        texts = ["".join(map(_part_text, message.parts)) for message in prompt.messages]
        texts += [msgspec.json.encode(tool).decode() for tool in prompt.tools]
        known = {_text_id(piece): piece for text in texts for piece in PIECE.findall(text)}
        known |= {number: f"<|{role}|>" for number, role in enumerate((*ROLES, "end"))}
        return tuple([known.get(token_id, "\ufffd").encode() for token_id in prompt.ids])

    async def prefill(self, prompt: Prompt) -> PrefillResult:
        async def prefill_prompt() -> PrefillResult:
            await asyncio.sleep(self._read_s)
            num_cached_tokens = self._cache(prompt)
            num_evaluated_tokens = prompt.num_tokens - num_cached_tokens
            return PrefillResult(num_cached_tokens, num_evaluated_tokens, self._read_s * 1000, True)

        return await self._idle_queue.prefill(prompt, prefill_prompt)

    async def generate_when_idle(
        self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True
    ) -> str:
        return await self._idle_queue.run(
            lambda: self._generate_text(prompt, sampling), can_wait=can_wait
        )

    async def generate_beside(self, prompt: Prompt, sampling: Sampling) -> str:
        if not self._facts.has_room_beside:
            raise Preempted
        return await self._generate_text(prompt, sampling)

    async def _generate_text(self, prompt: Prompt, sampling: Sampling) -> str:
        script = (
            self._idle_answers.popleft()
            if self._idle_answers
            else Script(make_title(last_user_text(prompt)))
        )
        return await collect_text(self._answer(script, prompt, sampling))

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[GenerationStep, None]:
        with self._idle_queue.foreground():
            await self._idle_queue.preempt(prompt)
            script = self._answers.popleft() if self._answers else select_script(prompt)
            async with aclosing(self._answer(script, prompt, sampling)) as steps:
                async for step in steps:
                    yield step

    async def _answer(
        self, script: Script, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[GenerationStep, None]:
        if script.is_down:
            raise EngineDown("The script says that the engine is down.")
        num_left = prompt.num_window_tokens - prompt.num_tokens
        if num_left < 1:
            raise PromptTooLong("The message does not fit the script's window.", param="messages")
        self._num_busy += 1
        try:
            async for delayed in play_delays(script):
                yield delayed
            async with aclosing(self._decode(script, prompt, sampling, num_left)) as steps:
                async for step in steps:
                    yield step
        finally:
            self._num_busy -= 1

    def _decode(
        self, script: Script, prompt: Prompt, sampling: Sampling, num_left: int
    ) -> AsyncGenerator[GenerationStep, None]:
        requested_at = time.perf_counter()

        def sample(resolved: Sampling) -> AsyncGenerator[GenerationStep, None]:
            return self._play(script, prompt, resolved, num_left)

        async def prefill() -> Prefilled:
            num_cached_tokens = self._cache(prompt)
            await asyncio.sleep(script.first_s)
            num_evaluated_tokens = prompt.num_tokens - num_cached_tokens
            return Prefilled(num_cached_tokens, num_evaluated_tokens, 0.0, _ms_since(requested_at))

        def search() -> AsyncGenerator[GenerationStep, None]:
            model = BeamModel(prefill, _next_token_probs(script, prompt).query)
            num_max_tokens = min(sampling.max_tokens or num_left, num_left)
            return beam_search(model, sampling, num_max_tokens, requested_at)

        return decode(prompt, sampling, sample, search)

    @property
    def _small_facts(self) -> ModelFacts:
        offer = self._small.offer
        return ModelFacts(
            name=offer.name,
            title=offer.title,
            num_window_tokens=min(offer.num_window_tokens, self._facts.num_window_tokens),
            level="tokens",
            where="here",
            quantisation=offer.quantisation,
            num_bytes=offer.num_bytes,
            can_call_tools=True,
            good_at=offer.good_at,
            has_next_token_probs=True,
            is_exact=True,
        )

    async def _play(
        self, script: Script, prompt: Prompt, sampling: Sampling, num_left: int
    ) -> AsyncGenerator[GenerationStep, None]:
        requested_at = time.perf_counter()
        num_cached_tokens = self._cache(prompt)
        await asyncio.sleep(script.first_s)
        read_ms = _ms_since(requested_at)
        yield Prefilled(num_cached_tokens, prompt.num_tokens - num_cached_tokens, 0.0, read_ms)
        pieces, is_cut, num_before = plan_pieces(script, prompt, sampling, num_left)
        num_output_tokens = 0
        for piece in PIECE.findall(script.thought) if num_before == 0 else ():
            await asyncio.sleep(script.pace_s)
            yield Generated("", (), reasoning=piece)
        async for batch in play_batches(script, pieces, num_before):
            yield _generated(batch, sampling.top_logprobs or 0, _ms_since(requested_at))
            num_output_tokens += len(batch)
        yield Finished(
            "length" if is_cut else "stop",
            Usage(
                num_input_tokens=prompt.num_tokens,
                num_cached_tokens=num_cached_tokens,
                num_output_tokens=num_output_tokens,
                prefill_ms=read_ms,
                decode_ms=_ms_since(requested_at) - read_ms,
            ),
        )

    def _cache(self, prompt: Prompt) -> int:
        """Caches the prompt. Returns how many of its tokens were cached, in whole spans."""
        num_cached_tokens = 0
        for end in accumulate(span.num_tokens for span in prompt.spans):
            prefix = hash(prompt.ids[:end])
            if prefix in self._cached:
                num_cached_tokens = end
            self._cached[prefix] = None
        return min(num_cached_tokens, max(prompt.num_tokens - 1, 0))


def _segments(
    messages: Sequence[Message], tools: Sequence[Tool]
) -> Iterator[tuple[Source, int, list[int]]]:
    for tool in tools:
        yield "tool", -1, _ids(msgspec.json.encode(tool).decode())
    closed, partial = split_partial_answer(messages)
    for index, message in enumerate(closed):
        yield "template", -1, [ROLES.index(message.role)]
        for part in message.parts:
            yield part_source(part, message), index, _ids(_part_text(part))
        yield "template", -1, [END_ID]
    yield "template", -1, [ROLES.index("assistant")]
    if partial is not None:
        known = partial.token_ids if isinstance(partial, PartialAnswer) else ()
        yield partial.source, len(closed), list(known) or _ids(partial.text)


def _part_text(part: Part) -> str:
    match part:
        case Text(text) | Attachment(text=text):
            return text
        case ToolResult(_, output):
            return output
        case Thought():
            return ""
        case ToolCall(_, tool, arguments):
            return f'<tool_call>{{"name": "{tool}", "arguments": {arguments}}}</tool_call>'


def _ids(text: str) -> list[int]:
    return [_text_id(piece) for piece in PIECE.findall(text)]


def _next_token_probs(script: Script, prompt: Prompt) -> ScriptedNextTokenProbs:
    pieces, _, _ = plan_pieces(script, prompt, Sampling(), prompt.num_window_tokens)
    return ScriptedNextTokenProbs(script, pieces, _text_id, END_ID)


def _text_id(piece: str) -> int:
    return FIRST_TEXT_ID + zlib.crc32(piece.encode()) % NUM_TEXT_IDS


def _generated(pieces: list[str], num_alternatives: int, at_ms: float) -> Generated:
    tokens = tuple([_token(piece, num_alternatives, at_ms) for piece in pieces])
    return Generated("".join(pieces), tokens)


def _token(piece: str, num_alternatives: int, at_ms: float) -> Token:
    token_id = _text_id(piece)
    logprob = -(token_id % 100) / 50
    if not num_alternatives:
        return Token(token_id, piece, logprob, at_ms)
    others = [
        Alternative(_text_id(one), one, logprob - 1 - k) for k, one in enumerate(ALTERNATIVES)
    ]
    chosen = Alternative(token_id, piece, logprob)
    return Token(token_id, piece, logprob, at_ms, (chosen, *others[: num_alternatives - 1]))


def _ms_since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 1)
