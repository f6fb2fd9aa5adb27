"""Text to token ids, by asking llama.cpp, and only for what was not asked before.

Text and structure are two different questions: in text no special token is ever parsed.
"""

from typing import TypeVar

import msgspec

from hitsend.engine.contract import Pieces
from hitsend.engine.http import Http
from hitsend.engine.upstream import read_answer
from hitsend.engine.vocabulary import Vocabulary
from hitsend.recent import Recent

T = TypeVar("T")

MAX_KEPT_TOKENS = 1_000_000


class _Tokenized(msgspec.Struct, frozen=True):
    tokens: tuple[int, ...]


class _Detokenized(msgspec.Struct, frozen=True):
    content: str


class _Piece(msgspec.Struct, frozen=True):
    id: int
    piece: str | tuple[int, ...]
    """Bytes where it is not whole characters."""


class _TokenizedPieces(msgspec.Struct, frozen=True):
    tokens: tuple[_Piece, ...]


class _Question(msgspec.Struct, frozen=True):
    content: str
    parse_special: bool
    add_special: bool = False
    with_pieces: bool = False


class Tokenizer:
    def __init__(self, http: Http, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._http = http
        self._kept = Recent[_Question, tuple[int, ...]](MAX_KEPT_TOKENS, lambda ids: len(ids) + 1)

    async def ids_of_text(self, text: str) -> tuple[int, ...]:
        ids: list[int] = []
        for piece in self.vocabulary.cut(text):
            ids += await self._ids(_Question(piece, parse_special=False))
        return tuple(ids)

    async def ids_of_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        """The first may bring a token of its own that begins every prompt."""
        return await self._ids(_Question(text, parse_special=True, add_special=is_first))

    async def pieces_of_text(self, text: str) -> Pieces:
        found: list[_Piece] = []
        for piece in self.vocabulary.cut(text):
            question = _Question(piece, parse_special=False, with_pieces=True)
            found += (await self._ask(question, _TokenizedPieces)).tokens
        return Pieces(
            tuple([one.id for one in found]),
            tuple([_bytes(one.piece) for one in found]),
        )

    async def spell(self, ids: tuple[int, ...]) -> tuple[bytes, ...]:
        """What each of them stands for. Together they are asked for at once; tokens that the text
        of all would be split into otherwise are asked for one by one."""
        text = await self.text_of_ids(ids) or ""
        question = _Question(text, parse_special=True, with_pieces=True)
        found = (await self._ask(question, _TokenizedPieces)).tokens
        known = {one.id: _bytes(one.piece) for one in found}
        for token_id in set(ids) - known.keys():
            known[token_id] = (await self.text_of_ids((token_id,)) or "").encode()
        return tuple([known[token_id] for token_id in ids])

    async def text_of_ids(self, ids: tuple[int, ...]) -> str | None:
        """None where there are no such tokens."""
        request = msgspec.json.encode({"tokens": ids})
        answer = await self._http.request("POST", "/detokenize", request)
        return read_answer(answer, _Detokenized).content if answer.status == 200 else None

    async def _ids(self, question: _Question) -> tuple[int, ...]:
        if (ids := self._kept.get(question)) is None:
            ids = (await self._ask(question, _Tokenized)).tokens
        self._kept[question] = ids
        return ids

    async def _ask(self, question: _Question, kind: type[T]) -> T:
        answer = await self._http.request("POST", "/tokenize", msgspec.json.encode(question))
        return read_answer(answer, kind)


def _bytes(piece: str | tuple[int, ...]) -> bytes:
    return piece.encode() if isinstance(piece, str) else bytes(piece)
