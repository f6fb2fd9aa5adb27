"""Tokenizes through llama.cpp's `/tokenize`, with a cache.

Text and structure are tokenized differently: special tokens are parsed only in structure.
"""

from typing import TypeVar

import msgspec
from cachetools import LRUCache

from hitsend.engine.contract import TokenizedText
from hitsend.engine.http import HttpClient
from hitsend.engine.llama.vocabulary import Vocabulary
from hitsend.engine.upstream_errors import read_response

T = TypeVar("T")

MAX_CACHED_TOKENS = 1_000_000


class _Tokenized(msgspec.Struct, frozen=True):
    tokens: tuple[int, ...]


class _Detokenized(msgspec.Struct, frozen=True):
    content: str


class _Piece(msgspec.Struct, frozen=True):
    id: int
    piece: str | tuple[int, ...]
    """A list of bytes if the token is not whole characters."""


class _TokenizedPieces(msgspec.Struct, frozen=True):
    tokens: tuple[_Piece, ...]


class _Request(msgspec.Struct, frozen=True):
    content: str
    parse_special: bool
    add_special: bool = False
    with_pieces: bool = False


class Tokenizer:
    def __init__(self, http: HttpClient, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._http = http
        self._cache = LRUCache[_Request, tuple[int, ...]](MAX_CACHED_TOKENS, _cache_size)

    async def tokenize_text(self, text: str) -> tuple[int, ...]:
        ids: list[int] = []
        for piece in self.vocabulary.cut(text):
            ids += await self._ids(_Request(piece, parse_special=False))
        return tuple(ids)

    async def tokenize_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        """`is_first` adds the token that begins every prompt, if the model has one."""
        return await self._ids(_Request(text, parse_special=True, add_special=is_first))

    async def tokenize_pieces(self, text: str) -> TokenizedText:
        found: list[_Piece] = []
        for piece in self.vocabulary.cut(text):
            request = _Request(piece, parse_special=False, with_pieces=True)
            found += (await self._send(request, _TokenizedPieces)).tokens
        return TokenizedText(
            tuple([one.id for one in found]),
            tuple([_bytes(one.piece) for one in found]),
        )

    async def detokenize(self, ids: tuple[int, ...]) -> tuple[bytes, ...]:
        """Returns the bytes of each id. One request for the whole text gives nearly all of them;
        ids that its tokenization does not contain take one request each."""
        text = await self.decode_ids(ids) or ""
        request = _Request(text, parse_special=True, with_pieces=True)
        found = (await self._send(request, _TokenizedPieces)).tokens
        known = {one.id: _bytes(one.piece) for one in found}
        for token_id in set(ids) - known.keys():
            known[token_id] = (await self.decode_ids((token_id,)) or "").encode()
        return tuple([known[token_id] for token_id in ids])

    async def decode_ids(self, ids: tuple[int, ...]) -> str | None:
        """Returns None if the model has no such tokens."""
        request = msgspec.json.encode({"tokens": ids})
        response = await self._http.request("POST", "/detokenize", request)
        return read_response(response, _Detokenized).content if response.status == 200 else None

    async def _ids(self, request: _Request) -> tuple[int, ...]:
        if (ids := self._cache.get(request)) is None:
            ids = (await self._send(request, _Tokenized)).tokens
            self._cache[request] = ids
        return ids

    async def _send(self, request: _Request, kind: type[T]) -> T:
        response = await self._http.request("POST", "/tokenize", msgspec.json.encode(request))
        return read_response(response, kind)


def _cache_size(ids: tuple[int, ...]) -> int:
    return min(len(ids) + 1, MAX_CACHED_TOKENS)  # a longer text takes the whole cache


def _bytes(piece: str | tuple[int, ...]) -> bytes:
    return piece.encode() if isinstance(piece, str) else bytes(piece)
