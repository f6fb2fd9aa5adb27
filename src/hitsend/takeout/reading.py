"""Reads a file of conversations, whoever made it: one after the other, each as it will be kept.

A conversation that cannot be read is named, with what is wrong with it.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from hitsend.errors import BadImport
from hitsend.takeout.archive import conversations
from hitsend.takeout.chatgpt import OURS, read_chatgpt
from hitsend.takeout.clean import MOST_TITLE_CHARS
from hitsend.takeout.open_webui import read_open_webui
from hitsend.takeout.taken import LeftOut, PartsLeftOut, Report, Source, TakenConversation

MOST_JSON_BYTES = 1 << 30
"""Of all conversations, out of their zip."""
MOST_CONVERSATIONS = 50_000

Read: TypeAlias = Callable[[bytes, str, float, PartsLeftOut], TakenConversation | None]

READERS: dict[Source, Read] = {
    "chatgpt": read_chatgpt,
    "open_webui": read_open_webui,
    "hitsend": read_chatgpt,
}
UNKNOWN = "It is neither a ChatGPT export, nor one of Open WebUI or of hitsend."
TITLE = re.compile(rb'"title"\s*+:\s*+("[^"\\]*+(?:\\.[^"\\]*+)*+")')
LEFT = "Nothing was imported. What is not broken can be imported without the rest."
NOTHING_SAID = "Nothing was said in it."


class Shape(msgspec.Struct, frozen=True):
    """By what it has, one tells who made it."""

    mapping: Raw | UnsetType = UNSET
    chat: Raw | UnsetType = UNSET
    history: Raw | UnsetType = UNSET
    exported_by: str | None = None


class Reading:
    """One file being read. What `report` says holds once `conversations` has come to its end."""

    def __init__(
        self, *, leaves_out_broken: bool, now: float, most_bytes: int = MOST_JSON_BYTES
    ) -> None:
        self._most_bytes = most_bytes
        self._leaves_out_broken = leaves_out_broken
        self._now = now
        self._source: Source | None = None
        self._known: set[str] = set()
        self._left = PartsLeftOut()
        self._broken: list[LeftOut] = []
        self._empty: list[LeftOut] = []

    def conversations(self, file: BinaryIO, folder: Path) -> Iterator[TakenConversation]:
        """Raises BadImport for a file that cannot be read at all."""
        for number, raw in enumerate(conversations(file, folder, self._most_bytes), 1):
            if number > MOST_CONVERSATIONS:
                raise BadImport(f"It holds more than {MOST_CONVERSATIONS:,} conversations.")
            try:
                taken = self._taken(raw)
            except BadImport as error:
                self._broken.append(LeftOut(_name(raw, number), error.message))
                continue
            if taken is None:
                self._empty.append(LeftOut(_name(raw, number), NOTHING_SAID))
            else:
                yield taken
        if self._source is None and not self._broken:
            raise BadImport("There are no conversations in it.")

    @property
    def report(self) -> Report:
        return Report(
            source=self._source or "chatgpt",
            left_out=(*self._broken, *self._empty),
            num_parts_left_out=self._left,
            problem=self._problem(),
        )

    def _problem(self) -> str | None:
        if not self._broken or (self._leaves_out_broken and self._source):
            return None
        first, others = self._broken[0], len(self._broken) - 1
        if first.why == UNKNOWN and self._source is None:
            return UNKNOWN
        more = f" So are {others:,} more." if others > 1 else " So is one more." if others else ""
        return f"“{first.title}” is broken: {first.why}{more} {LEFT}"

    def _taken(self, raw: bytes) -> TakenConversation | None:
        try:
            source = _source(msgspec.json.decode(raw, type=Shape))
            if self._source not in (None, source):
                raise BadImport("It was not made by the same program as those before it.")
            self._source = source
            own_id = hashlib.sha256(raw).hexdigest()
            taken = READERS[source](raw, own_id, self._now, self._left)
        except msgspec.ValidationError as error:
            raise BadImport(f"It is not as it should be: {error}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadImport(_unreadable(error)) from None
        except RecursionError:
            raise BadImport("It is nested too deeply.") from None
        if taken is not None and taken.source_id in self._known:
            raise BadImport("It has the same id as one before it.")
        self._known |= {taken.source_id} if taken else set()
        return taken


def _source(shape: Shape) -> Source:
    if shape.mapping is not UNSET:
        return "hitsend" if shape.exported_by == OURS else "chatgpt"
    if shape.chat is not UNSET or shape.history is not UNSET:
        return "open_webui"
    raise BadImport(UNKNOWN)


def _unreadable(error: Exception) -> str:
    if "escape" in str(error) or "surrogate" in str(error):
        return "It has half a character in it (a lone surrogate)."
    return f"It is not JSON: {error}."


def _name(raw: bytes, number: int) -> str:
    """How a person finds it again: by its title, or by its place in the file. What follows the
    title may be what is broken."""
    found = TITLE.search(raw)
    try:
        title = msgspec.json.decode(found[1], type=str) if found else ""
    except (msgspec.DecodeError, UnicodeDecodeError):
        title = ""
    return title[:MOST_TITLE_CHARS] or f"Conversation {number:,}"
