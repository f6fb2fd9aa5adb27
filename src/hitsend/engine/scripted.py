"""An engine without a model: says what it is told, at the pace it is told.

It ships with the product, for tests, benchmarks and work on the page. Everything a real engine
gives (ids, spans, probabilities, cached counts, failures) is there and holds together.
`script` has the language it is directed in.
"""

import asyncio
import re
import time
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from itertools import accumulate, cycle, islice

import msgspec

from hitsend.engine.contract import (
    EngineStatus,
    Finished,
    Generated,
    Generation,
    ModelFacts,
    Pieces,
    Prompt,
    PromptWasRead,
)
from hitsend.engine.script import Script, parse_script
from hitsend.errors import EngineDown, EngineLost, PromptTooLong, UnknownModel
from hitsend.events import Span
from hitsend.messages import (
    Alternative,
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
)

NAME = "scripted"
PIECE = re.compile(r"\s?\S{1,8}|\s")
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
    def __init__(self, answers: Iterable[Script] = (), num_window_tokens: int = 8192) -> None:
        """`answers` are given first, in order; after them the messages direct."""
        self._answers = deque(answers)
        self._num_busy = 0
        self._seen: dict[int, None] = {}
        self._facts = ModelFacts(
            name=NAME,
            title="Scripted",
            num_window_tokens=num_window_tokens,
            level="tokens",
            where="here",
            can_call_tools=True,
            is_default=True,
        )

    async def start(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is nothing to end."""

    def status(self) -> EngineStatus:
        return EngineStatus("ready", "The script is ready.", self._num_busy, NUM_SLOTS)

    async def models(self) -> Sequence[ModelFacts]:
        return [self._facts]

    async def resolve(self, name: str) -> ModelFacts:
        if name not in ("", "auto", NAME):
            raise UnknownModel(f"There is no model {name!r} here. There is: {NAME}.", param="model")
        return self._facts

    async def encode(
        self, model: str, messages: Sequence[Message], tools: Sequence[Tool] = ()
    ) -> Prompt:
        await self.resolve(model)
        ids: list[int] = []
        spans: list[Span] = []
        for source, index, new in _stretches(messages, tools):
            ids += new
            if new:
                spans.append(Span(source, index, len(new)))
        return Prompt(
            model=NAME,
            num_tokens=len(ids),
            num_window_tokens=self._facts.num_window_tokens,
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

    async def prefill(self, prompt: Prompt) -> None:
        self._remember(prompt)

    async def generate(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Generation, None]:
        script = self._answers.popleft() if self._answers else parse_script(_asked(prompt))
        if script.is_down:
            raise EngineDown("The script says that the engine is down.")
        num_left = prompt.num_window_tokens - prompt.num_tokens
        if num_left < 1:
            raise PromptTooLong("The message does not fit the script's window.", param="messages")
        self._num_busy += 1
        try:
            async for step in self._play(script, prompt, sampling, num_left):
                yield step
        finally:
            self._num_busy -= 1

    async def _play(
        self, script: Script, prompt: Prompt, sampling: Sampling, num_left: int
    ) -> AsyncGenerator[Generation, None]:
        asked_at = time.perf_counter()
        num_cached_tokens = self._remember(prompt)
        await asyncio.sleep(script.first_s)
        read_ms = _since(asked_at)
        yield PromptWasRead(num_cached_tokens, prompt.num_tokens - num_cached_tokens, 0.0, read_ms)
        pieces, is_cut = _pieces(script, prompt, sampling, num_left)
        num_said = 0
        async for batch in _paced(script, pieces):
            yield _generated(batch, sampling.top_logprobs, _since(asked_at))
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
        while len(self._seen) > MAX_SEEN:
            del self._seen[next(iter(self._seen))]
        return min(num_cached_tokens, max(prompt.num_tokens - 1, 0))


def _stretches(
    messages: Sequence[Message], tools: Sequence[Tool]
) -> Iterator[tuple[Source, int, list[int]]]:
    for tool in tools:
        yield "tool", -1, _ids(msgspec.json.encode(tool).decode())
    for index, message in enumerate(messages):
        yield "template", -1, [ROLES.index(message.role)]
        yield message.source, index, _ids("".join(map(_written, message.parts)))
        yield "template", -1, [END_ID]
    yield "template", -1, [ROLES.index("assistant")]


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


def _text_id(piece: str) -> int:
    return FIRST_TEXT_ID + zlib.crc32(piece.encode()) % NUM_TEXT_IDS


def _asked(prompt: Prompt) -> str:
    """What the person said last."""
    return next((one.text for one in reversed(prompt.messages) if one.role == "user"), "")


def _pieces(
    script: Script, prompt: Prompt, sampling: Sampling, num_left: int
) -> tuple[list[str], bool]:
    """What will be said, and whether it was cut for lack of room."""
    text = _about(_asked(prompt)) if script.text is None else script.text
    pieces = PIECE.findall(text)
    if script.num_tokens is not None:
        pieces = list(islice(cycle(pieces), script.num_tokens))
    if stops := [at for stop in sampling.stop if (at := "".join(pieces).find(stop)) >= 0]:
        pieces = PIECE.findall("".join(pieces)[: min(stops)])
    num_most = min(sampling.max_tokens or num_left, num_left)
    return pieces[:num_most], len(pieces) > num_most


def _about(message: str) -> str:
    words = re.findall(r"\w+", message) or ["nothing"]
    longest = sorted(set(words), key=lambda word: (-len(word), word))[:3]
    points = "\n".join(f"- **{word}** is {len(word)} letters long" for word in longest)
    return (
        f"You said {len(words)} words, and *{words[0]}* came first.\n\n{points}\n\n"
        f"```python\nprint({' '.join(words[:8])!r})\n```\n\nAsk me anything else."
    )


async def _paced(script: Script, pieces: list[str]) -> AsyncGenerator[list[str], None]:
    """In batches, each in its time, up to where the script ends it."""
    death, silence = script.num_until_death, script.num_until_silence
    num_said = min(len(pieces) if end is None else end for end in (death, silence))
    for start in range(0, num_said, script.num_batch_tokens):
        batch = pieces[start : min(start + script.num_batch_tokens, num_said)]
        await asyncio.sleep(script.pace_s * len(batch))
        yield batch
    if death is not None and death == num_said:
        raise EngineLost("The script says that the engine died.")
    if silence is not None and silence == num_said:
        await asyncio.Event().wait()


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
