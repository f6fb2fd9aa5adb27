"""Turns what a server returned into the result of a call: text for the model, files for people."""

import base64
import binascii
import mimetypes
from collections.abc import Iterable
from typing import TypeGuard

import mcp_types as types
import msgspec

from hitsend.tools.hosted_tool import CallResult, ToolFile
from hitsend.tools.mcp.definitions import clean_line

MAX_FILES = 10
MAX_TEXT_CHARS = 1_000_000
"""The loop cuts the text to what is stored."""


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


def read_contents(
    contents: Iterable[types.TextResourceContents | types.BlobResourceContents],
) -> CallResult:
    """Of a resource."""
    reader = _Reader()
    for one in contents:
        reader.add_contents(one)
    return CallResult(reader.text, files=tuple(reader.files))


def read_prompt(result: types.GetPromptResult) -> str:
    """Returns the text of a prompt's messages, with who says it where there are several."""
    said = []
    for message in result.messages:
        reader = _Reader()
        reader.add(message.content)
        said.append((message.role, reader.text))
    if len(said) == 1:
        return said[0][1]
    return "\n\n".join(f"{role.capitalize()}: {text}" for role, text in said)


class _Reader:
    def __init__(self) -> None:
        self._texts: list[str] = []
        self._num_chars = 0
        self.files: list[ToolFile] = []

    @property
    def text(self) -> str:
        return "\n".join(self._texts)

    def has_json(self, value: object) -> bool:
        """Whether the texts are this value. Servers repeat it for older hosts, the official SDK
        for a single value without the object around it."""
        told = [_decode(text) for text in self._texts]
        wanted = [value, value.get("result")] if _is_wrapped(value) else [value]
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
    return isinstance(value, dict) and value.keys() == {"result"}


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
