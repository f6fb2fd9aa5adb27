"""vLLM, spoken to in tokens: `/tokenize`, `/detokenize`, and `/v1/completions` with ids.

Written from vLLM's API and tried against a server that imitates it, never against vLLM.
vLLM parses special tokens in any text, so text is cut inside whatever looks like one.
"""

import time
from collections.abc import AsyncGenerator, Sequence

import msgspec

from hitsend.engine import encoding
from hitsend.engine.contract import (
    Generation,
    Level,
    ModelFacts,
    Pieces,
    Prefilled,
    Prompt,
)
from hitsend.engine.decoding import decode
from hitsend.engine.hearing import Count, Piece, listen
from hitsend.engine.http import Answer, Http
from hitsend.engine.look_alikes import LookAlikes
from hitsend.engine.openai_request import Json, sampling_json
from hitsend.engine.spare_time import SpareTime
from hitsend.engine.token_strings import bytes_of
from hitsend.engine.upstream import Problem, read_answer
from hitsend.errors import Refused
from hitsend.messages import UNTOLD, Alternative, Message, Sampling, Token, Tool
from hitsend.recent import Recent

MAX_KEPT_TEXTS = 4096
PROBE: tuple[Json, ...] = ({"role": "user", "content": "What does 1 + 1 make?"},)


class _Tokenized(msgspec.Struct, frozen=True):
    tokens: tuple[int, ...]
    token_strs: tuple[str, ...] | None = None


class _Detokenized(msgspec.Struct, frozen=True):
    prompt: str


class VllmDialect:
    level: Level = "tokens"
    can_call_tools = True
    can_foresee = False
    num_window_tokens = None

    def __init__(self, http: Http) -> None:
        self._http = http
        self._models: dict[str, VllmModel] = {}

    async def encode(
        self, model: ModelFacts, messages: Sequence[Message], tools: Sequence[Tool]
    ) -> Prompt:
        encoded = await encoding.encode(self._model(model.name), messages, tools)
        return Prompt(
            model=model.name,
            num_tokens=len(encoded.ids),
            num_window_tokens=model.num_window_tokens,
            is_exact=True,
            spans=encoded.spans,
            ids=encoded.ids,
        )

    async def tokenize(self, model: str, text: str) -> Pieces:
        return await self._model(model).pieces_of_text(text)

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._model(prompt.model).spell(prompt.ids)

    def templated(self, model: str) -> "VllmModel":
        return self._model(model)

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Generation, None]:
        def sample(settled: Sampling) -> AsyncGenerator[Generation, None]:
            request = _request(prompt, settled) | {
                "stream": True,
                "stream_options": {"include_usage": True},
            }
            return listen(self._http, "/v1/completions", request, prompt, _read_chunk)

        return decode(prompt, sampling, sample)

    async def prefill(self, prompt: Prompt, spare_time: SpareTime) -> Prefilled:
        """It always says something; one token is the least. How much was cached it does not."""
        asked_at = time.perf_counter()
        request = _request(prompt, Sampling(max_tokens=1))
        answer = await self._http.request("POST", "/v1/completions", msgspec.json.encode(request))
        read_answer(answer, object, prompt.model)
        took_ms = round((time.perf_counter() - asked_at) * 1000, 1)
        return Prefilled(0, prompt.num_tokens, took_ms, is_whole=True)

    def _model(self, name: str) -> "VllmModel":
        return self._models.setdefault(name, VllmModel(self._http, name))


class VllmModel:
    """What encoding needs of a model that vLLM serves."""

    can_call_tools = True

    def __init__(self, http: Http, name: str) -> None:
        self._http = http
        self._name = name
        self._look_alikes = LookAlikes()
        self._kept = Recent[str, tuple[int, ...]](MAX_KEPT_TEXTS)

    async def can_be_rendered(self) -> bool:
        """Whether a prompt survives being turned into text and back, which `render` needs."""
        ids = await self._template(PROBE, ())
        return await self._ids(await self._text(ids)) == ids

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        """vLLM renders only into ids, so they are turned back into text."""
        return await self._text(await self._template(messages, tools))

    async def ids_of_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        return await self._ids(text)

    async def ids_of_text(self, text: str) -> tuple[int, ...]:
        ids: list[int] = []
        for piece in self._look_alikes.cut(text):
            ids += await self._ids(piece)
        return tuple(ids)

    async def text_of_ids(self, ids: tuple[int, ...]) -> str | None:
        """None where there are no such tokens."""
        answer = await self._detokenize(ids)
        return read_answer(answer, _Detokenized).prompt if answer.status == 200 else None

    def is_plain(self, text: str) -> bool:
        return self._look_alikes.is_plain(text)

    async def spell(self, ids: tuple[int, ...]) -> tuple[bytes, ...]:
        """What each of them stands for; tokens that the text of all would be split into otherwise
        are asked for one by one."""
        known = await self._spelled(await self._text(ids))
        for token_id in set(ids) - known.keys():
            known[token_id] = (await self._text((token_id,))).encode()
        return tuple([known[token_id] for token_id in ids])

    async def _spelled(self, text: str) -> dict[int, bytes]:
        found = await self._tokenize({"prompt": text, "return_token_strs": True})
        pieces = bytes_of(found.token_strs or (), text) or ()
        return dict(zip(found.tokens, pieces, strict=False))

    async def pieces_of_text(self, text: str) -> Pieces:
        ids: list[int] = []
        pieces: list[bytes] = []
        for piece in self._look_alikes.cut(text):
            found = await self._tokenize({"prompt": piece, "return_token_strs": True})
            spelled = bytes_of(found.token_strs or (), piece)
            if spelled is None:
                raise Refused(f"{self._name} does not say how it splits this text.")
            ids += found.tokens
            pieces += spelled
        return Pieces(tuple(ids), tuple(pieces))

    async def _template(self, messages: Sequence[Json], tools: Sequence[object]) -> tuple[int, ...]:
        question: Json = {"messages": messages, "add_generation_prompt": True}
        return (await self._tokenize(question | ({"tools": tools} if tools else {}))).tokens

    async def _ids(self, text: str) -> tuple[int, ...]:
        if (ids := self._kept.get(text)) is None:
            ids = (await self._tokenize({"prompt": text})).tokens
        self._kept[text] = ids
        return ids

    async def _tokenize(self, question: Json) -> _Tokenized:
        request = {"model": self._name, "add_special_tokens": False, **question}
        answer = await self._http.request("POST", "/tokenize", msgspec.json.encode(request))
        return read_answer(answer, _Tokenized, self._name)

    async def _text(self, ids: tuple[int, ...]) -> str:
        return read_answer(await self._detokenize(ids), _Detokenized, self._name).prompt

    async def _detokenize(self, ids: tuple[int, ...]) -> Answer:
        request = {"model": self._name, "tokens": ids}
        return await self._http.request("POST", "/detokenize", msgspec.json.encode(request))


def _request(prompt: Prompt, sampling: Sampling) -> Json:
    left = prompt.num_window_tokens - prompt.num_tokens
    request = sampling_json(sampling) | {
        "model": prompt.model,
        "prompt": prompt.ids,
        "max_tokens": min(sampling.max_tokens or left, left),
        "return_token_ids": True,
    }
    return request | ({"logprobs": sampling.top_logprobs} if sampling.top_logprobs else {})


class _Logprobs(msgspec.Struct, frozen=True):
    tokens: tuple[str, ...] = ()
    token_logprobs: tuple[float | None, ...] = ()
    top_logprobs: tuple[dict[str, float] | None, ...] = ()


class _Choice(msgspec.Struct, frozen=True, gc=False):
    text: str = ""
    token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Chunk(msgspec.Struct, frozen=True, gc=False):
    choices: tuple[_Choice, ...] = ()
    usage: Count | None = None
    error: Problem | str | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


def _read_chunk(value: bytes, at_ms: float) -> Piece:
    chunk = _decode(value)
    if not chunk.choices:
        return Piece(usage=chunk.usage, error=chunk.error)
    choice = chunk.choices[0]
    return Piece(_tokens(choice, at_ms), choice.finish_reason, chunk.usage, chunk.error)


def _tokens(choice: _Choice, at_ms: float) -> list[Token]:
    ids = choice.token_ids or ((UNTOLD,) if choice.text else ())
    if not ids:
        return []
    texts = _texts(choice, len(ids))
    logprobs, tops = _likelihoods(choice.logprobs, len(ids))
    return [
        Token(token_id, text, logprob, at_ms, top)
        for token_id, text, logprob, top in zip(ids, texts, logprobs, tops, strict=True)
    ]


def _texts(choice: _Choice, num_tokens: int) -> Sequence[str]:
    """Told of each token with its probability; else the last one gets what all have said."""
    told = choice.logprobs.tokens if choice.logprobs else ()
    if len(told) == num_tokens and "".join(told) == choice.text:
        return told
    return (*[""] * (num_tokens - 1), choice.text)


def _likelihoods(
    logprobs: _Logprobs | None, num_tokens: int
) -> tuple[Sequence[float | None], Sequence[tuple[Alternative, ...]]]:
    if logprobs is None or len(logprobs.token_logprobs) != num_tokens:
        return [None] * num_tokens, [()] * num_tokens
    tops = [_alternatives(top or {}) for top in logprobs.top_logprobs]
    return logprobs.token_logprobs, tops if len(tops) == num_tokens else [()] * num_tokens


def _alternatives(top: dict[str, float]) -> tuple[Alternative, ...]:
    """vLLM names alternatives by their text, or by their id, not by both."""
    return tuple([Alternative(UNTOLD, text, logprob) for text, logprob in top.items()])
