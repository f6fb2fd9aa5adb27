"""The dialect of vLLM: `/tokenize`, `/detokenize`, and `/v1/completions` with token ids.

Written from vLLM's API documentation and tested against a fake server, never against vLLM. vLLM
parses special tokens in any text, so text is cut inside everything that looks like one.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, TypeAlias

import msgspec
from cachetools import LRUCache
from msgspec import UNSET, UnsetType

from hitsend.engine import encoding
from hitsend.engine.constraint import constrain
from hitsend.engine.contract import (
    GenerationStep,
    Level,
    ModelFacts,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.decoding import decode
from hitsend.engine.http import HttpClient, Response
from hitsend.engine.idle_queue import IdleQueue
from hitsend.engine.llama.vocabulary import GuessedVocabulary
from hitsend.engine.message_json import Json
from hitsend.engine.remote.chat_request import sampling_json, schema_format
from hitsend.engine.remote.openai_stream import ParsedChunk, UsageCounts, stream_completion
from hitsend.engine.remote.token_strings import decode_token_strings
from hitsend.engine.upstream_errors import Problem, read_response
from hitsend.errors import Refused
from hitsend.messages import UNKNOWN_ID, Alternative, AnswerRules, Message, Sampling, Token, Tool

MAX_CACHED_TEXTS = 4096
PROBE: tuple[Json, ...] = ({"role": "user", "content": "What does 1 + 1 make?"},)


TokenId: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, lt=2**31)]


class _Tokenized(msgspec.Struct, frozen=True):
    tokens: tuple[TokenId, ...]
    token_strs: tuple[str, ...] | None = None


class _Detokenized(msgspec.Struct, frozen=True):
    prompt: str


class VllmDialect:
    level: Level = "tokens"
    can_call_tools = True
    has_next_token_probs = False
    num_window_tokens = None

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._models: dict[str, VllmModel] = {}

    def default_sampling(self, model: str) -> UnsetType:
        return UNSET

    async def encode(
        self,
        model: ModelFacts,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        rules: AnswerRules,
    ) -> Prompt:
        encoded = await encoding.encode(self._model(model.name), messages, tools)
        return encoded.to_prompt(model.name, model.num_window_tokens, tools, rules)

    async def tokenize(self, model: str, text: str) -> TokenizedText:
        return await self._model(model).tokenize_pieces(text)

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]:
        return await self._model(prompt.model).detokenize(prompt.ids)

    def chat_template(self, model: str) -> "VllmModel":
        return self._model(model)

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[GenerationStep, None]:
        def sample(resolved: Sampling) -> AsyncGenerator[GenerationStep, None]:
            request = _build_request(prompt, constrain(resolved, prompt)) | {
                "stream": True,
                "stream_options": {"include_usage": True},
            }
            return stream_completion(self._http, "/v1/completions", request, prompt, _parse_chunk)

        return decode(prompt, sampling, sample)

    async def prefill(self, prompt: Prompt, idle_queue: IdleQueue) -> PrefillResult:
        """vLLM always generates, so one token is requested. It does not report how much was
        cached."""
        requested_at = time.perf_counter()
        request = _build_request(prompt, Sampling(max_tokens=1))
        response = await self._http.request("POST", "/v1/completions", msgspec.json.encode(request))
        read_response(response, object, prompt.model)
        took_ms = round((time.perf_counter() - requested_at) * 1000, 1)
        return PrefillResult(0, prompt.num_tokens, took_ms, is_complete=True)

    def _model(self, name: str) -> "VllmModel":
        return self._models.setdefault(name, VllmModel(self._http, name))


class VllmModel:
    """The chat template and tokenizer of one model."""

    can_call_tools = True

    def __init__(self, http: HttpClient, name: str) -> None:
        self._http = http
        self._name = name
        self._vocabulary = GuessedVocabulary()
        self._cache = LRUCache[str, tuple[int, ...]](MAX_CACHED_TEXTS)

    async def can_round_trip(self) -> bool:
        """Whether a prompt decoded to text and tokenized again has the same ids: `render` needs
        that."""
        ids = await self._apply_template(PROBE, ())
        return await self._ids(await self._decode(ids)) == ids

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        """vLLM renders only to ids, which are decoded to text here."""
        return await self._decode(await self._apply_template(messages, tools))

    async def tokenize_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        return await self._ids(text)

    async def tokenize_text(self, text: str) -> tuple[int, ...]:
        ids: list[int] = []
        for piece in self._vocabulary.cut(text):
            ids += await self._ids(piece)
        return tuple(ids)

    async def decode_ids(self, ids: tuple[int, ...]) -> str | None:
        """Returns None if the model has no such tokens."""
        response = await self._detokenize(ids)
        return read_response(response, _Detokenized).prompt if response.status == 200 else None

    def is_plain(self, text: str) -> bool:
        return self._vocabulary.is_plain(text)

    async def detokenize(self, ids: tuple[int, ...]) -> tuple[bytes, ...]:
        """Returns the bytes of each id. One request for the whole text gives nearly all of them;
        ids that its tokenization does not contain take one request each."""
        known = await self._token_bytes(await self._decode(ids))
        for token_id in set(ids) - known.keys():
            known[token_id] = (await self._decode((token_id,))).encode()
        return tuple([known[token_id] for token_id in ids])

    async def _token_bytes(self, text: str) -> dict[int, bytes]:
        found = await self._tokenize({"prompt": text, "return_token_strs": True})
        pieces = decode_token_strings(found.token_strs or (), text) or ()
        return dict(zip(found.tokens, pieces, strict=False))

    async def tokenize_pieces(self, text: str) -> TokenizedText:
        ids: list[int] = []
        pieces: list[bytes] = []
        for piece in self._vocabulary.cut(text):
            found = await self._tokenize({"prompt": piece, "return_token_strs": True})
            new_pieces = decode_token_strings(found.token_strs or (), piece)
            if new_pieces is None:
                raise Refused(f"{self._name} does not say how it splits this text.")
            ids += found.tokens
            pieces += new_pieces
        return TokenizedText(tuple(ids), tuple(pieces))

    async def _apply_template(
        self, messages: Sequence[Json], tools: Sequence[object]
    ) -> tuple[int, ...]:
        request: Json = {"messages": messages, "add_generation_prompt": True}
        return (await self._tokenize(request | ({"tools": tools} if tools else {}))).tokens

    async def _ids(self, text: str) -> tuple[int, ...]:
        if (ids := self._cache.get(text)) is None:
            ids = (await self._tokenize({"prompt": text})).tokens
            self._cache[text] = ids
        return ids

    async def _tokenize(self, fields: Json) -> _Tokenized:
        request = {"model": self._name, "add_special_tokens": False, **fields}
        response = await self._http.request("POST", "/tokenize", msgspec.json.encode(request))
        return read_response(response, _Tokenized, self._name)

    async def _decode(self, ids: tuple[int, ...]) -> str:
        return read_response(await self._detokenize(ids), _Detokenized, self._name).prompt

    async def _detokenize(self, ids: tuple[int, ...]) -> Response:
        request = {"model": self._name, "tokens": ids}
        return await self._http.request("POST", "/detokenize", msgspec.json.encode(request))


def _build_request(prompt: Prompt, sampling: Sampling) -> Json:
    num_left = prompt.num_window_tokens - prompt.num_tokens
    request = sampling_json(sampling) | {
        "model": prompt.model,
        "prompt": prompt.ids,
        "max_tokens": min(sampling.max_tokens or num_left, num_left),
        "return_token_ids": True,
    }
    if sampling.json_schema is not None:
        request["response_format"] = schema_format(sampling.json_schema, prompt.rules)
    return request | ({"logprobs": sampling.top_logprobs} if sampling.top_logprobs else {})


class _Logprobs(msgspec.Struct, frozen=True):
    tokens: tuple[str, ...] = ()
    token_logprobs: tuple[float | None, ...] = ()
    top_logprobs: tuple[dict[str, float] | None, ...] = ()


class _Choice(msgspec.Struct, frozen=True, gc=False):
    text: str = ""
    token_ids: tuple[TokenId, ...] | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Chunk(msgspec.Struct, frozen=True, gc=False):
    choices: tuple[_Choice, ...] = ()
    usage: UsageCounts | None = None
    error: Problem | str | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


def _parse_chunk(value: bytes, at_ms: float) -> ParsedChunk:
    chunk = _decode(value)
    if not chunk.choices:
        return ParsedChunk(usage=chunk.usage, error=chunk.error)
    choice = chunk.choices[0]
    return ParsedChunk(_tokens(choice, at_ms), choice.finish_reason, chunk.usage, chunk.error)


def _tokens(choice: _Choice, at_ms: float) -> list[Token]:
    ids = choice.token_ids or ((UNKNOWN_ID,) if choice.text else ())
    if not ids:
        return []
    texts = _texts(choice, len(ids))
    logprobs, tops = _logprobs(choice.logprobs, len(ids))
    return [
        Token(token_id, text, logprob, at_ms, top)
        for token_id, text, logprob, top in zip(ids, texts, logprobs, tops, strict=True)
    ]


def _texts(choice: _Choice, num_tokens: int) -> Sequence[str]:
    """Returns the text of each token if the logprobs contain it. Otherwise the last token gets the
    whole text."""
    texts = choice.logprobs.tokens if choice.logprobs else ()
    if len(texts) == num_tokens and "".join(texts) == choice.text:
        return texts
    return (*[""] * (num_tokens - 1), choice.text)


def _logprobs(
    logprobs: _Logprobs | None, num_tokens: int
) -> tuple[Sequence[float | None], Sequence[tuple[Alternative, ...]]]:
    if logprobs is None or len(logprobs.token_logprobs) != num_tokens:
        return [None] * num_tokens, [()] * num_tokens
    tops = [_alternatives(top or {}) for top in logprobs.top_logprobs]
    return logprobs.token_logprobs, tops if len(tops) == num_tokens else [()] * num_tokens


def _alternatives(top: dict[str, float]) -> tuple[Alternative, ...]:
    """vLLM returns either the texts or the ids of alternatives. We request texts."""
    return tuple([Alternative(UNKNOWN_ID, text, logprob) for text, logprob in top.items()])
