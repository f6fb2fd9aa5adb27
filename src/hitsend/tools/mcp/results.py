"""Turns what a server returned into the result of a call: text for the model, files for people."""

import base64
import binascii
import mimetypes
from collections.abc import Sequence
from typing import TypeAlias, TypeGuard

import mcp_types as types
import msgspec

from hitsend.canonical import canonicalize
from hitsend.errors import Refused
from hitsend.tools.hosted_tool import CallResult, ToolFile
from hitsend.tools.mcp.definitions import clean_line

MAX_FILES = 10
MAX_ATTACHED_CHARS = 200_000
"""Of a resource or a prompt, for a message."""
MAX_TEXT_CHARS = 1_000_000
"""The loop cuts the text to what is stored."""


Contents: TypeAlias = types.TextResourceContents | types.BlobResourceContents


def read_result(result: types.CallToolResult, server: str) -> CallResult:
    reader = _Reader()
    for block in result.content:
        reader.add(block)
    if result.structured_content is not None and not reader.has_json(result.structured_content):
        reader.add_text(_encode(result.structured_content))
    output = reader.text
    if not output and not reader.files:
        output = f"{server} reported an error without saying which." if result.is_error else "Done."
    return CallResult(output, failed=result.is_error, files=tuple(reader.files))


def read_text(contents: Sequence[Contents]) -> str:
    """Returns the text of a resource. Raises Refused if it has none, or too much."""
    texts = [text for one in contents if (text := _text_of(one)) is not None]
    if not texts and contents:
        media_type = clean_line(contents[0].mime_type or "", 100) or "a file of an unknown kind"
        raise Refused(f"This is no text ({media_type}). Only text can be attached.", param="uri")
    text = canonicalize("\n".join(texts)[: MAX_TEXT_CHARS + 1])
    if not text.strip():
        raise Refused("This is empty.", param="uri")
    if len(text) > MAX_ATTACHED_CHARS:
        num_chars = sum(map(len, texts))
        raise Refused(
            f"This has {num_chars:,} characters. At most {MAX_ATTACHED_CHARS:,} can be attached.",
            param="uri",
        )
    return text


def _text_of(contents: Contents) -> str | None:
    """Some servers send text as bytes."""
    if isinstance(contents, types.TextResourceContents):
        return contents.text
    if not (contents.mime_type or "").lower().startswith("text/"):
        return None
    try:
        return base64.b64decode(contents.blob, validate=False).decode()
    except (binascii.Error, ValueError):
        return None


def read_prompt(result: types.GetPromptResult) -> str:
    """Returns the text of a prompt's messages, with who says it where there are several. Raises
    Refused if there is none, or too much."""
    said = []
    for message in result.messages:
        reader = _Reader(keeps_files=False)
        reader.add(message.content)
        said.append((message.role, reader.text))
    text = "\n\n".join(f"{role.capitalize()}: {text}" for role, text in said)
    text = canonicalize(said[0][1] if len(said) == 1 else text)
    if not text.strip():
        raise Refused("This prompt has no text.", param="name")
    if len(text) > MAX_ATTACHED_CHARS:
        raise Refused(f"This prompt has {len(text):,} characters.", param="name")
    return text


class _Reader:
    def __init__(self, *, keeps_files: bool = True) -> None:
        self._keeps_files = keeps_files
        self._texts: list[str] = []
        self._num_chars = 0
        self.files: list[ToolFile] = []

    @property
    def text(self) -> str:
        return "\n".join(self._texts)

    def has_json(self, value: object) -> bool:
        """Whether the texts are this value. Servers repeat it for older hosts, and some leave out
        the object around a single value, such as `{"content": …}`."""
        told = [_decode(text) for text in self._texts]
        wanted = [value, *value.values()] if _is_wrapped(value) else [value]
        return any(
            one in (told, self._texts) or one in told or one in self._texts for one in wanted
        )

    def add(self, block: types.ContentBlock) -> None:
        match block:
            case types.TextContent():
                self.add_text(block.text)
            case types.ImageContent() | types.AudioContent():
                kind = "image" if isinstance(block, types.ImageContent) else "audio"
                self._add_file(f"{kind} {len(self.files) + 1}", block.mime_type, block.data)
            case types.ResourceLink():
                name = clean_line(block.title or block.name, 200)
                self.add_text(f"{name}: {clean_line(str(block.uri), 2000)}")
            case types.EmbeddedResource():
                self.add_contents(block.resource)

    def add_contents(
        self, contents: types.TextResourceContents | types.BlobResourceContents
    ) -> None:
        if isinstance(contents, types.TextResourceContents):
            self.add_text(contents.text)
            return
        name = clean_line(str(contents.uri).rstrip("/").rpartition("/")[2], 100)
        media_type = contents.mime_type or "application/octet-stream"
        self._add_file(name or "file", media_type, contents.blob)

    def add_text(self, text: str) -> None:
        text = text[: max(MAX_TEXT_CHARS - self._num_chars, 0)]
        self._num_chars += len(text)
        if text:
            self._texts.append(text)

    def _add_file(self, name: str, media_type: str, encoded: str) -> None:
        media_type = clean_line(media_type, 100).lower() or "application/octet-stream"
        if not self._keeps_files:
            self.add_text(f"[{name}, {media_type}: left out, it is no text]")
            return
        if len(self.files) >= MAX_FILES:
            self.add_text(f"[{name}: not shown, there are more than {MAX_FILES} files]")
            return
        try:
            content = base64.b64decode(encoded, validate=False)
        except (binascii.Error, ValueError):
            self.add_text(f"[{name}: cannot be read]")
            return
        if "." not in name:
            name += mimetypes.guess_extension(media_type) or ""
        self.files.append(ToolFile(name, media_type, content))
        self.add_text(f"[{name}, {media_type}, {len(content):,} bytes: shown to the person]")


def _is_wrapped(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict) and len(value) == 1


def _decode(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _encode(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError, OverflowError):
        return str(value)
