"""An engine without a model: says what it is told, at the pace it is told.

It ships with the product, for tests, benchmarks and work on the page. Everything a real engine
gives (ids, spans, probabilities, cached counts, delays, failures, a model to fetch) is there and
holds together. `script` has the language it is directed in.
"""

import asyncio
import time
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import accumulate

import msgspec

from hitsend.engine.beam import Questions, beam_search
from hitsend.engine.contract import (
    EngineStatus,
    Finished,
    GaveWay,
    Generated,
    Generation,
    ModelFacts,
    Offer,
    Pieces,
    Prefilled,
    Prompt,
    PromptWasRead,
)
from hitsend.engine.decoding import decode
from hitsend.engine.encoding import split_begun
from hitsend.engine.script import Script, parse_script
from hitsend.engine.scripted_foresight import ScriptedForesight
from hitsend.engine.scripted_weights import SMALL, ScriptedWeights
from hitsend.engine.scripted_words import PIECE, asked, delays, paced, pieces_of, title_of
from hitsend.engine.spare_time import SpareTime, text_of
from hitsend.errors import Conflict, EngineDown, PromptTooLong, UnknownModel
from hitsend.events import Span
from hitsend.messages import (
    Alternative,
    Begun,
    Message,
    Part,
    Sampling,
    Source,
    Text,
    Token,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    source_of,
)
from hitsend.recent import Recent

NAME = "scripted"
ROLES = ("system", "developer", "user", "assistant", "tool")
END_ID = len(ROLES)
FIRST_TEXT_ID, NUM_TEXT_IDS = 1000, 60_000
OTHERS = (
    " the", " a", " an", " it", " that", " this", " one", " so", " and", " but", " or", " if",
    ".", ",", "!", "?", ":", ";", "\n", "-",
)  # fmt: skip
NUM_SLOTS = 1024
MAX_SEEN = 4096


class ScriptedEngine:
    def __init__(
        self,
        answers: Iterable[Script] = (),
        num_window_tokens: int = 8192,
        asides: Iterable[Script] = (),
        read_s: float = 0.0,
    ) -> None:
        """`answers` are given first, in order; after them the messages direct. So with `asides`,
        after which come titles. Reading ahead takes `read_s`."""
        self._answers = deque(answers)
        self._asides = deque(asides)
        self._read_s = read_s
        self._spare_time = SpareTime()
        self._num_busy = 0
        self._seen = Recent[int, None](MAX_SEEN)
        self._facts = ModelFacts(
            name=NAME,
            title="Scripted",
            num_window_tokens=num_window_tokens,
            level="tokens",
            where="here",
            can_call_tools=True,
            is_default=True,
            good_at=("short_answers", "tools"),
            can_foresee=True,
            is_exact=True,
        )
        self._small = ScriptedWeights()

    async def start(self) -> None:
        """There is nothing to load."""

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
        self._small.begin()

    async def remove(self, name: str) -> None:
        if name in ("", "auto", NAME):
            raise Conflict("The script is the model that answers by default: it has to stay.")
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
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        facts = await self.resolve(model)
        ids: list[int] = []
        spans: list[Span] = []
        for source, index, new in _stretches(messages, tools):
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
        )

    async def tokenize(self, model: str, text: str) -> Pieces:
        await self.resolve(model)
        pieces = PIECE.findall(text)
        return Pieces(tuple(map(_text_id, pieces)), tuple(piece.encode() for piece in pieces))

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]:
        """Its tokens are numbers only; what they say is in the messages they were made of."""
        said = ["".join(map(_written, message.parts)) for message in prompt.messages]
        said += [msgspec.json.encode(tool).decode() for tool in prompt.tools]
        known = {_text_id(piece): piece for text in said for piece in PIECE.findall(text)}
        known |= {number: f"<|{role}|>" for number, role in enumerate((*ROLES, "end"))}
        return tuple([known.get(token_id, "\ufffd").encode() for token_id in prompt.ids])

    async def prefill(self, prompt: Prompt) -> Prefilled:
        async def read() -> Prefilled:
            await asyncio.sleep(self._read_s)
            num_cached_tokens = self._remember(prompt)
            num_evaluated_tokens = prompt.num_tokens - num_cached_tokens
            return Prefilled(num_cached_tokens, num_evaluated_tokens, self._read_s * 1000, True)

        try:
            return await self._spare_time.use(read, reads=prompt)
        except GaveWay:
            return Prefilled()

    async def aside(self, prompt: Prompt, sampling: Sampling, *, can_wait: bool = True) -> str:
        async def say() -> str:
            script = self._asides.popleft() if self._asides else Script(title_of(asked(prompt)))
            return await text_of(self._answer(script, prompt, sampling))

        return await self._spare_time.use(say, can_wait=can_wait)

    async def generate(
        self, prompt: Prompt, sampling: Sampling, lane: str = ""
    ) -> AsyncGenerator[Generation, None]:
        with self._spare_time.person():
            await self._spare_time.end(prompt)
            script = self._answers.popleft() if self._answers else parse_script(asked(prompt))
            async with aclosing(self._answer(script, prompt, sampling)) as steps:
                async for step in steps:
                    yield step

    async def _answer(
        self, script: Script, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Generation, None]:
        if script.is_down:
            raise EngineDown("The script says that the engine is down.")
        num_left = prompt.num_window_tokens - prompt.num_tokens
        if num_left < 1:
            raise PromptTooLong("The message does not fit the script's window.", param="messages")
        self._num_busy += 1
        try:
            async for delayed in delays(script):
                yield delayed
            async with aclosing(self._decoded(script, prompt, sampling, num_left)) as steps:
                async for step in steps:
                    yield step
        finally:
            self._num_busy -= 1

    def _decoded(
        self, script: Script, prompt: Prompt, sampling: Sampling, num_left: int
    ) -> AsyncGenerator[Generation, None]:
        asked_at = time.perf_counter()

        def sample(settled: Sampling) -> AsyncGenerator[Generation, None]:
            return self._play(script, prompt, settled, num_left)

        async def read() -> PromptWasRead:
            num_cached_tokens = self._remember(prompt)
            await asyncio.sleep(script.first_s)
            num_evaluated_tokens = prompt.num_tokens - num_cached_tokens
            return PromptWasRead(num_cached_tokens, num_evaluated_tokens, 0.0, _since(asked_at))

        def search() -> AsyncGenerator[Generation, None]:
            questions = Questions(read, _foresight(script, prompt).after)
            num_most = min(sampling.max_tokens or num_left, num_left)
            return beam_search(questions, sampling, num_most, asked_at)

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
            can_foresee=True,
            is_exact=True,
        )

    async def _play(
        self, script: Script, prompt: Prompt, sampling: Sampling, num_left: int
    ) -> AsyncGenerator[Generation, None]:
        asked_at = time.perf_counter()
        num_cached_tokens = self._remember(prompt)
        await asyncio.sleep(script.first_s)
        read_ms = _since(asked_at)
        yield PromptWasRead(num_cached_tokens, prompt.num_tokens - num_cached_tokens, 0.0, read_ms)
        pieces, is_cut, num_before = pieces_of(script, prompt, sampling, num_left)
        num_said = 0
        async for batch in paced(script, pieces, num_before):
            yield _generated(batch, sampling.top_logprobs or 0, _since(asked_at))
            num_said += len(batch)
        yield Finished(
            "length" if is_cut else "stop",
            Usage(
                num_input_tokens=prompt.num_tokens,
                num_cached_tokens=num_cached_tokens,
                num_output_tokens=num_said,
                prefill_ms=read_ms,
                decode_ms=_since(asked_at) - read_ms,
            ),
        )

    def _remember(self, prompt: Prompt) -> int:
        """How much of it was read before, up to the end of a span."""
        num_cached_tokens = 0
        for end in accumulate(span.num_tokens for span in prompt.spans):
            prefix = hash(prompt.ids[:end])
            if prefix in self._seen:
                num_cached_tokens = end
            self._seen[prefix] = None
        return min(num_cached_tokens, max(prompt.num_tokens - 1, 0))


def _stretches(
    messages: Sequence[Message], tools: Sequence[Tool]
) -> Iterator[tuple[Source, int, list[int]]]:
    for tool in tools:
        yield "tool", -1, _ids(msgspec.json.encode(tool).decode())
    said, begun = split_begun(messages)
    for index, message in enumerate(said):
        yield "template", -1, [ROLES.index(message.role)]
        for part in message.parts:
            yield source_of(part, message), index, _ids(_written(part))
        yield "template", -1, [END_ID]
    yield "template", -1, [ROLES.index("assistant")]
    if begun is not None:
        known = begun.token_ids if isinstance(begun, Begun) else ()
        yield begun.source, len(said), list(known) or _ids(begun.text)


def _written(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case ToolResult(_, output):
            return output
        case ToolCall(_, tool, arguments):
            return f'<tool_call>{{"name": "{tool}", "arguments": {arguments}}}</tool_call>'


def _ids(text: str) -> list[int]:
    return [_text_id(piece) for piece in PIECE.findall(text)]


def _foresight(script: Script, prompt: Prompt) -> ScriptedForesight:
    pieces, _, _ = pieces_of(script, prompt, Sampling(), prompt.num_window_tokens)
    return ScriptedForesight(script, pieces, _text_id, END_ID)


def _text_id(piece: str) -> int:
    return FIRST_TEXT_ID + zlib.crc32(piece.encode()) % NUM_TEXT_IDS


def _generated(pieces: list[str], num_others: int, at_ms: float) -> Generated:
    tokens = tuple([_token(piece, num_others, at_ms) for piece in pieces])
    return Generated("".join(pieces), tokens)


def _token(piece: str, num_others: int, at_ms: float) -> Token:
    token_id = _text_id(piece)
    logprob = -(token_id % 100) / 50
    if not num_others:
        return Token(token_id, piece, logprob, at_ms)
    others = [Alternative(_text_id(one), one, logprob - 1 - k) for k, one in enumerate(OTHERS)]
    chosen = Alternative(token_id, piece, logprob)
    return Token(token_id, piece, logprob, at_ms, (chosen, *others[: num_others - 1]))


def _since(moment: float) -> float:
    return round((time.perf_counter() - moment) * 1000, 1)
