"""Reads the conversations of a file of any supported format, one at a time.

The report names each broken conversation and its problem.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from hitsend.errors import BadImport
from hitsend.import_export.archive import split_conversations
from hitsend.import_export.chatgpt import EXPORTED_BY, read_chatgpt
from hitsend.import_export.fields import MAX_TITLE_CHARS
from hitsend.import_export.imported_conversation import (
    ImportedConversation,
    LeftOut,
    PartsLeftOut,
    Report,
    Source,
)
from hitsend.import_export.open_webui import read_open_webui

MAX_JSON_BYTES = 1 << 30
"""Unpacked size of all conversations together."""
MAX_CONVERSATIONS = 50_000

ReadConversation: TypeAlias = Callable[
    [bytes, str, float, PartsLeftOut], ImportedConversation | None
]

READERS: dict[Source, ReadConversation] = {
    "chatgpt": read_chatgpt,
    "open_webui": read_open_webui,
    "hitsend": read_chatgpt,
}
UNKNOWN = "It is neither a ChatGPT export, nor one of Open WebUI or of hitsend."
TITLE = re.compile(rb'"title"\s*+:\s*+("[^"\\]*+(?:\\.[^"\\]*+)*+")')
LEFT = "Nothing was imported. What is not broken can be imported without the rest."
NOTHING_SAID = "Nothing was said in it."


class FormatProbe(msgspec.Struct, frozen=True):
    """The fields by which the format is detected."""

    mapping: Raw | UnsetType = UNSET
    chat: Raw | UnsetType = UNSET
    history: Raw | UnsetType = UNSET
    exported_by: str | None = None


class ImportReader:
    """Reads one file. `report` is complete once `conversations` is exhausted."""

    def __init__(
        self, *, leaves_out_broken: bool, now: float, most_bytes: int = MAX_JSON_BYTES
    ) -> None:
        self._most_bytes = most_bytes
        self._leaves_out_broken = leaves_out_broken
        self._now = now
        self._source: Source | None = None
        self._known: set[str] = set()
        self._left = PartsLeftOut()
        self._broken: list[LeftOut] = []
        self._empty: list[LeftOut] = []

    def conversations(self, file: BinaryIO, folder: Path) -> Iterator[ImportedConversation]:
        """Raises BadImport for a file that cannot be read at all."""
        for number, raw in enumerate(split_conversations(file, folder, self._most_bytes), 1):
            if number > MAX_CONVERSATIONS:
                raise BadImport(f"It holds more than {MAX_CONVERSATIONS:,} conversations.")
            try:
                conversation = self._read_conversation(raw)
            except BadImport as error:
                self._broken.append(LeftOut(_conversation_name(raw, number), error.message))
                continue
            if conversation is None:
                self._empty.append(LeftOut(_conversation_name(raw, number), NOTHING_SAID))
            else:
                yield conversation
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

    def _read_conversation(self, raw: bytes) -> ImportedConversation | None:
        try:
            source = _detect_source(msgspec.json.decode(raw, type=FormatProbe))
            if self._source not in (None, source):
                raise BadImport("It was not made by the same program as those before it.")
            self._source = source
            fallback_id = hashlib.sha256(raw).hexdigest()
            conversation = READERS[source](raw, fallback_id, self._now, self._left)
        except msgspec.ValidationError as error:
            raise BadImport(f"Its format is wrong: {error}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadImport(_describe_decode_error(error)) from None
        except RecursionError:
            raise BadImport("It is nested too deeply.") from None
        if conversation is not None and conversation.source_id in self._known:
            raise BadImport("It has the same id as one before it.")
        self._known |= {conversation.source_id} if conversation else set()
        return conversation


def _detect_source(shape: FormatProbe) -> Source:
    if shape.mapping is not UNSET:
        return "hitsend" if shape.exported_by == EXPORTED_BY else "chatgpt"
    if shape.chat is not UNSET or shape.history is not UNSET:
        return "open_webui"
    raise BadImport(UNKNOWN)


def _describe_decode_error(error: Exception) -> str:
    if "escape" in str(error) or "surrogate" in str(error):
        return "It has half a character in it (a lone surrogate)."
    return f"It is not JSON: {error}."


def _conversation_name(raw: bytes, number: int) -> str:
    """Returns the title, or the position in the file.

    Searches the raw JSON, because the rest may be broken.
    """
    found = TITLE.search(raw)
    try:
        title = msgspec.json.decode(found[1], type=str) if found else ""
    except (msgspec.DecodeError, UnicodeDecodeError):
        title = ""
    return title[:MAX_TITLE_CHARS] or f"Conversation {number:,}"
