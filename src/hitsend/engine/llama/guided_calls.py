"""Guides a small model to call tools: first it chooses a tool, or to reply, then it writes the
arguments under a grammar.

Small models choose well and write badly. Left alone they begin a call for nearly every message,
repeat it until the answer is full, and invent what nobody said. So the choice is one among names,
weighted by how close each tool is to the question; an argument that nobody wrote makes the model
choose again; and the calls end where one repeats or invents.
"""

import time
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TypeAlias

import msgspec

from hitsend.engine.contract import (
    CallGuide,
    Finished,
    Generated,
    GenerationStep,
    Prefilled,
    Prompt,
)
from hitsend.engine.encoding import ChatTemplate
from hitsend.engine.grounding import Said, drop_copied, drop_invented, is_grounded
from hitsend.engine.llama.completion_request import GuidedRequest, guided_request
from hitsend.engine.tool_grammar import arguments_grammar, name_grammar
from hitsend.engine.tool_listing import read_parameters, reply_name
from hitsend.engine.tool_weights import count_requests
from hitsend.messages import UNKNOWN_ID, Bias, Message, Text, Token, Tool, ToolResult, Usage

Run: TypeAlias = Callable[[bytes], AsyncGenerator[GenerationStep, None]]

OPENING, NAMED, CLOSING = '<tool_call>\n{"name": "', '", "arguments":', "\n</tool_call>"
REPLY_GRAMMAR = r"root ::= [^{<`\x20\n\t] [^\x00]*"
"""Allows any answer that does not begin as a call does: the model chose to reply."""
MAX_CALLS = 4
MAX_NAME_TOKENS = 32
UNLIKELY_ENDING = -3.0
"""The log probability of the rest of a name, after its first token, under which the model meant
another name."""
MARGIN = 9.0
"""How much less likely, in logits, a tool may be that replaces one with invented arguments."""
NUM_HELD_CHARS = 200
"""Longer arguments are texts and programs, which are passed on as they come."""


def build_guide(messages: Sequence[Message], tools: Sequence[Tool]) -> CallGuide:
    said = tuple(_said(messages))
    asked = (message for message in reversed(messages) if message.role == "user")
    question = next((message.own_text or message.text for message in asked), "")
    return CallGuide(said, reply_name(tools), count_requests(question), messages[-1].role == "tool")


def _said(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult):
                yield part.output
            elif isinstance(part, Text) and message.role != "system":
                yield part.text


async def call_or_reply(
    calls: "GuidedCalls", answer: Callable[[], AsyncGenerator[GenerationStep, None]]
) -> AsyncGenerator[GenerationStep, None]:
    """The calls, or the answer in words if there are none. The prompt is read once."""
    async with aclosing(calls.steps()) as steps:
        async for step in steps:
            yield step
    if calls.has_called:
        return
    async with aclosing(answer()) as steps:
        async for step in steps:
            match step:
                case Prefilled() if calls.prefilled is not None:
                    continue
                case Finished(reason, usage):
                    yield Finished(reason, calls.add_usage(usage))
                case _:
                    yield step


class _Choice(msgspec.Struct, frozen=True):
    name: str
    score: float


class _Written(msgspec.Struct, frozen=True):
    tool: str
    arguments: str
    is_cut: bool = False

    @property
    def text(self) -> str:
        return f"{OPENING}{self.tool}{NAMED}{self.arguments}"


class GuidedCalls:
    """The calls of one round of an answer. It has none if the model chose to reply."""

    def __init__(
        self,
        prompt: Prompt,
        guide: CallGuide,
        template: ChatTemplate,
        run: Run,
        num_max_tokens: int,
    ) -> None:
        self.has_called = False
        self.prefilled: Prefilled | None = None
        self._prompt = prompt
        self._template = template
        self._run = run
        self._tools = {tool.name: tool for tool in prompt.tools}
        self._reply = guide.reply
        self._said = Said(guide.said)
        self._num_requests = guide.num_requests
        is_single = guide.has_called or not prompt.rules.has_parallel_calls
        self._max_calls = 1 if is_single else MAX_CALLS
        self._names = (*self._tools, guide.reply)
        self._weights = dict(zip(self._names, guide.weights, strict=False))
        self._weights_after = dict(zip(self._tools, guide.weights_after, strict=False))
        self._num_left = num_max_tokens
        self._usage = Usage()
        self._started_at = time.perf_counter()
        self._arguments = ""
        """Written last, with the brace that closes the call."""
        self._num_passed_on = 0
        """Characters of them that were passed on before they were whole."""
        self._is_cut = False
        self._found: _Written | None = None

    async def steps(self) -> AsyncGenerator[GenerationStep, None]:
        made: list[_Written] = []
        while len(made) < self._max_calls:
            async with aclosing(self._next_call(made)) as steps:
                async for step in steps:
                    yield step
            call = self._found
            if call is None:
                break
            made.append(call)
            self.has_called = True
            if after := self._weights_after.get(call.tool):
                self._weights = dict(zip(self._names, after, strict=True))
            if call.is_cut:
                break
        if made:
            yield self._finish(is_cut=made[-1].is_cut)

    async def _next_call(self, made: Sequence[_Written]) -> AsyncGenerator[GenerationStep, None]:
        """Sets `_found`. The first call is the best one there is; another has to be new, and to
        say only what was said."""
        self._found = None
        first: tuple[_Choice, _Written] | None = None
        excluded: set[str] = set()
        while len(excluded) < 2:
            choice = None
            async with aclosing(self._choose(made, excluded)) as choosing:
                async for step in choosing:
                    if isinstance(step, _Choice):
                        choice = step
                    else:
                        yield step
            is_reply = choice is None or choice.name == self._reply
            if choice is None or is_reply or (first and choice.score < first[0].score - MARGIN):
                break
            async with aclosing(self._write(choice.name, made)) as writing:
                async for step in writing:
                    yield step
            call = _Written(choice.name, self._arguments, self._is_cut)
            if self._num_passed_on:
                self._found = call
                return
            call, has_invented = self._check(call, made)
            if made and has_invented:
                return
            if not has_invented or call.is_cut:
                self._found = call
                break
            first = first or (choice, call)
            excluded.add(choice.name)
        self._found = self._found or (first[1] if first else None)
        if self._found:
            yield self._generated(self._found.text + ("" if self._found.is_cut else CLOSING + "\n"))

    def _check(self, call: _Written, made: Sequence[_Written]) -> tuple[_Written, bool]:
        """Returns the call without optional arguments that were copied from the tool's description,
        or of a further call invented, and whether it has invented required ones. A further call
        that requires the same as an earlier one is an invention."""
        tool = self._tools[call.tool]
        try:
            arguments = msgspec.json.decode(call.arguments[:-1], type=dict[str, object])
        except msgspec.DecodeError:
            return call, True
        kept = drop_copied(tool, arguments, self._said)
        if made:
            kept = drop_invented(tool, kept, self._said)
        if kept != arguments:
            call = msgspec.structs.replace(call, arguments=f" {_write_json(kept)}}}")
        if any(_says_the_same(tool, kept, one) for one in made):
            return call, True
        return call, not is_grounded(tool, kept, self._said)

    async def _choose(
        self, made: Sequence[_Written], excluded: set[str]
    ) -> AsyncGenerator[GenerationStep | _Choice, None]:
        """Ends with a choice unless the calls are over. A name whose beginning the model likes and
        whose end it does not is compared with another."""
        best: _Choice | None = None
        for is_last in (False, True):
            names = [name for name in self._callable(made) if name not in excluded]
            if not made and not self._prompt.rules.must_call:
                names.append(self._reply)
            if not names:
                break
            text, logprobs = "", list[float]()
            async with aclosing(self._run_choice(made, names)) as steps:
                async for step in steps:
                    if isinstance(step, Generated):
                        text += step.text
                        logprobs += [one.logprob or 0.0 for one in step.tokens]
                    elif isinstance(step, Prefilled) and self.prefilled is None:
                        self.prefilled = step
                        yield step
                    elif isinstance(step, Finished):
                        self._count(step)
            name = text.removeprefix("\n" + OPENING).removesuffix('"')
            if name not in names:
                break
            found = _Choice(name, sum(logprobs[:-1]) + self._weigh(name))
            best = max(best, found, key=lambda one: one.score) if best else found
            if is_last or made or sum(logprobs[1:-1]) > UNLIKELY_ENDING:
                break
            excluded = {*excluded, name}
        if best:
            yield best

    def _callable(self, made: Sequence[_Written]) -> Collection[str]:
        """What asks for one thing needs one tool, perhaps several times; what asks for several, of
        different tools, needs no more calls than that."""
        called = {call.tool for call in made}
        if len(called) > 1 and len(made) >= self._num_requests:
            return ()
        return called if len(called) >= self._num_requests else self._tools

    async def _run_choice(
        self, made: Sequence[_Written], names: Sequence[str]
    ) -> AsyncGenerator[GenerationStep, None]:
        is_first = not made
        ids = await self._ids(made, OPENING if is_first else "")
        grammar = name_grammar(names, "" if is_first else "\n" + OPENING, can_end=not is_first)
        request = GuidedRequest(ids, grammar, MAX_NAME_TOKENS, await self._bias(names))
        async with aclosing(self._run(guided_request(request))) as steps:
            async for step in steps:
                yield step

    async def _write(
        self, name: str, made: Sequence[_Written]
    ) -> AsyncGenerator[GenerationStep, None]:
        """Writes the arguments. Passes long ones on as they come."""
        self._arguments, self._num_passed_on, self._is_cut = "", 0, False
        ids = await self._ids(made, f"{OPENING}{name}{NAMED}")
        request = GuidedRequest(ids, arguments_grammar(self._tools[name]), max(self._num_left, 1))
        async with aclosing(self._run(guided_request(request))) as steps:
            async for step in steps:
                if isinstance(step, Generated):
                    self._arguments += step.text
                    if len(self._arguments) > NUM_HELD_CHARS and not made:
                        yield self._pass_on(name)
                elif isinstance(step, Finished):
                    self._count(step)
                    self._is_cut = step.reason == "length"
        if self._num_passed_on and not self._is_cut:
            yield self._generated(CLOSING + "\n")

    def _pass_on(self, name: str) -> Generated:
        text = self._arguments[self._num_passed_on :]
        if not self._num_passed_on:
            text = f"{OPENING}{name}{NAMED}{text}"
        self._num_passed_on = len(self._arguments)
        return self._generated(text)

    async def _ids(self, made: Sequence[_Written], beginning: str) -> tuple[int, ...]:
        """The prompt, the calls so far, and the beginning of the next one. What the model wrote is
        text, in which no special token is parsed."""
        ids = self._prompt.ids
        for n, call in enumerate(made):
            opening = f"{OPENING if not n else chr(10) + OPENING}{call.tool}{NAMED}"
            ids += await self._template.tokenize_structure(opening, is_first=False)
            ids += await self._template.tokenize_text(call.arguments)
            ids += await self._template.tokenize_structure(CLOSING, is_first=False)
        if beginning:
            ids += await self._template.tokenize_structure(beginning, is_first=False)
        return ids

    async def _bias(self, names: Sequence[str]) -> tuple[Bias, ...]:
        """Adds the weight of each name to its tokens. Names that begin alike share that of the
        best, and the first token that differs takes the rest away."""
        if not self._weights:
            return ()
        weights = {await self._template.tokenize_text(name): self._weigh(name) for name in names}
        return tuple(spread_weights(weights).items())

    def _weigh(self, name: str) -> float:
        return self._weights.get(name, 0.0)

    def _count(self, finished: Finished) -> None:
        used = finished.usage
        first = self._usage if self._usage.num_input_tokens else used
        self._num_left -= used.num_output_tokens
        self._usage = msgspec.structs.replace(
            first,
            num_output_tokens=self._usage.num_output_tokens + used.num_output_tokens,
            decode_ms=round(self._usage.decode_ms + used.decode_ms, 1),
        )

    def add_usage(self, usage: Usage) -> Usage:
        """Adds the choice to what the answer took."""
        read = self._usage
        return msgspec.structs.replace(
            usage,
            num_cached_tokens=read.num_cached_tokens,
            queued_ms=read.queued_ms,
            prefill_ms=round(read.prefill_ms + read.decode_ms + usage.prefill_ms, 1),
        )

    def _generated(self, text: str) -> Generated:
        at_ms = round((time.perf_counter() - self._started_at) * 1000, 1)
        return Generated(text, (Token(UNKNOWN_ID, text, None, at_ms),))

    def _finish(self, *, is_cut: bool) -> Finished:
        return Finished("length" if is_cut else "stop", self._usage)


def _says_the_same(tool: Tool, arguments: Mapping[str, object], made: _Written) -> bool:
    if made.tool != tool.name:
        return False
    try:
        earlier = msgspec.json.decode(made.arguments[:-1], type=dict[str, object])
    except msgspec.DecodeError:
        return True
    required = [one.name for one in read_parameters(tool) if one.is_required] or list(earlier)
    return all(arguments.get(name) == earlier.get(name) for name in required)


def spread_weights(weights: Mapping[tuple[int, ...], float]) -> dict[int, float]:
    """Returns a bias for each token so that those of a name add up to its weight."""
    best: dict[tuple[int, ...], float] = {}
    for ids, weight in weights.items():
        for end in range(1, len(ids) + 1):
            best[ids[:end]] = max(best.get(ids[:end], weight), weight)
    bias: dict[int, float] = {}
    for ids, weight in best.items():
        bias[ids[-1]] = bias.get(ids[-1], 0.0) + weight - best.get(ids[:-1], 0.0)
    return {token: round(one, 3) for token, one in bias.items() if one}


def _write_json(value: object) -> str:
    """Writes JSON as models are trained to: with spaces."""
    match value:
        case dict():
            pairs = (f"{_write_json(name)}: {_write_json(one)}" for name, one in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(map(_write_json, value)) + "]"
        case _:
            return msgspec.json.encode(value).decode()
