"""What a server says of its tools, checked and cut to what models and grammars can take.

A server is a stranger. Its tools get names that no other tool has, descriptions of a bounded
length, and schemas without references, expressions and huge bounds. A tool that cannot be used is
kept with a plain reason, so that people see why it is missing.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hitsend.canonical import canonicalize

MAX_NAME_CHARS = 128
"""Of a tool, as its server calls it. The specification says so."""
MAX_FULL_NAME_CHARS = 64
"""With the prefix: what model servers accept."""
MAX_PREFIX_CHARS = 24
MAX_DESCRIPTION_CHARS = 50_000
"""A longer one is refused."""
MAX_SHOWN_CHARS = 2_000
"""Of a description, for the model."""
MAX_SCHEMA_BYTES = 65_536
MAX_PROPERTIES = 200
MAX_DEPTH = 16
MAX_BOUND = 2_000
"""Larger bounds of lengths and counts are left out: a grammar repeats its rules that often."""
MAX_ENUM = 500

NEEDS_TASK = "It runs only as a background task, which hitsend does not support."
NO_ARGUMENTS = '{"type":"object","properties":{}}'
UNSAFE = re.compile(r"[^a-z0-9_-]+", re.IGNORECASE | re.ASCII)
BOUNDS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
VALUES = frozenset(
    {"type", "required", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
TEXTS = frozenset({"title", "description"})
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as its server defines it."""

    name: str
    title: str = ""
    description: str = ""
    schema: str = NO_ARGUMENTS
    """Of its arguments, as JSON: what the model gets."""
    digest: str = ""
    """Of all that the server said of it."""
    is_read_only_hint: bool = False
    """The server's word only: it changes nothing by itself."""
    problem: str = ""
    """Why it cannot be used."""


class _Unusable(Exception):
    pass


def read_definition(
    name: str,
    title: str,
    description: str,
    schema: object,
    *,
    is_read_only_hint: bool = False,
    needs_task: bool = False,
) -> ToolDefinition:
    """`needs_task`: it can only be run as a task, which the SDK's client cannot."""
    about = (name, title, description, _encodable(schema), is_read_only_hint)
    said = msgspec.json.encode((*about, "task") if needs_task else about)
    shown_name = clean_line(name, MAX_NAME_CHARS)
    definition = ToolDefinition(
        name=shown_name,
        title=clean_line(title, 80),
        description=clean_text(description, MAX_SHOWN_CHARS),
        digest=hashlib.sha256(said).hexdigest(),
        is_read_only_hint=is_read_only_hint,
    )
    try:
        if shown_name != name or not name:
            raise _Unusable("Its name is longer than 128 characters or has unusual ones.")
        if needs_task:
            raise _Unusable(NEEDS_TASK)
        if len(description) > MAX_DESCRIPTION_CHARS:
            raise _Unusable(f"Its description has {len(description):,} characters.")
        return msgspec.structs.replace(definition, schema=_read_schema(schema))
    except _Unusable as error:
        return msgspec.structs.replace(definition, problem=str(error))


def full_name(prefix: str, name: str) -> str:
    """Returns the name for models, such as `wiki_search`. A name that had to be changed ends with
    some letters of its hash, so that two never become one."""
    cleaned = UNSAFE.sub("_", name).strip("_") or "tool"
    room = MAX_FULL_NAME_CHARS - len(prefix) - 1
    if cleaned == name and len(name) <= room:
        return f"{prefix}_{name}"
    mark = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"{prefix}_{cleaned[: room - 7]}_{mark}"


def make_prefix(title: str) -> str:
    """Returns letters of a server's title for its tools' names. It begins with a letter."""
    cleaned = UNSAFE.sub("_", title.lower()).replace("-", "_").strip("_")
    cleaned = re.sub("_+", "_", cleaned)[:MAX_PREFIX_CHARS].strip("_")
    return cleaned if cleaned[:1].isalpha() else f"mcp_{cleaned}".strip("_")[:MAX_PREFIX_CHARS]


def clean_line(text: str, max_chars: int) -> str:
    return " ".join(clean_text(text, max_chars).split())


def clean_text(text: str, max_chars: int) -> str:
    cut = canonicalize(text[: max_chars + 1]).strip()
    return cut if len(cut) <= max_chars else cut[: max_chars - 1].rstrip() + "…"


def _encodable(value: object) -> object:
    """JSON from elsewhere may have what ours cannot write, such as half a surrogate pair."""
    try:
        msgspec.json.encode(value)
    except (UnicodeEncodeError, RecursionError, msgspec.MsgspecError, OverflowError, TypeError):
        return repr(value)
    return value


def _read_schema(schema: object) -> str:
    if schema is None:
        return NO_ARGUMENTS
    if not isinstance(schema, Mapping):
        raise _Unusable("Its arguments are described wrongly.")
    try:
        num_bytes = len(msgspec.json.encode(schema))
    except (UnicodeEncodeError, RecursionError, msgspec.MsgspecError, OverflowError, TypeError):
        raise _Unusable("Its arguments are described wrongly.") from None
    if num_bytes > MAX_SCHEMA_BYTES:
        raise _Unusable(f"The description of its arguments has {num_bytes:,} bytes.")
    flat = _Flattener(schema).flatten()
    if flat.get("type", "object") != "object":
        raise _Unusable("Its arguments are described wrongly.")
    flat = {"type": "object", "properties": {}} | flat
    encoded = msgspec.json.encode(flat)
    if len(encoded) > MAX_SCHEMA_BYTES:
        raise _Unusable("The description of its arguments unfolds to too many bytes.")
    return encoded.decode()


class _Flattener:
    """Puts what `$ref` refers to in its place, and keeps the keywords that grammars understand. A
    definition that contains itself may hold anything at its second level."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._num_properties = 0
        self._num_steps = 0

    def flatten(self) -> dict[str, Any]:
        return self._visit(self._root, 0, ())

    def _visit(self, node: object, depth: int, open_refs: tuple[str, ...]) -> dict[str, Any]:
        self._num_steps += 1
        if depth > MAX_DEPTH or self._num_steps > 20 * MAX_PROPERTIES:
            raise _Unusable("Its arguments are nested too deep.")
        if not isinstance(node, Mapping):  # `true`, `false`, or nonsense
            return {}
        if isinstance(reference := node.get("$ref"), str):
            if reference in open_refs:
                return {}
            target = self._visit(self._resolve(reference), depth + 1, (*open_refs, reference))
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return target | self._visit(rest, depth + 1, open_refs) if rest else target
        return {
            key: kept
            for key, value in node.items()
            if (kept := self._keep(key, value, depth, open_refs)) is not None
        }

    def _keep(self, key: str, value: Any, depth: int, open_refs: tuple[str, ...]) -> Any:
        match key:
            case "properties" if isinstance(value, Mapping):
                self._num_properties += len(value)
                if self._num_properties > MAX_PROPERTIES:
                    raise _Unusable(f"It has more than {MAX_PROPERTIES} arguments.")
                return {
                    _check_key(name): self._visit(one, depth + 1, open_refs)
                    for name, one in value.items()
                }
            case "items":
                return self._visit(value, depth + 1, open_refs)
            case "additionalProperties":
                return (
                    value if isinstance(value, bool) else self._visit(value, depth + 1, open_refs)
                )
            case "enum" if isinstance(value, Sequence) and not isinstance(value, str):
                if len(value) > MAX_ENUM:
                    raise _Unusable(f"An argument of it has more than {MAX_ENUM} choices.")
                return list(value)
            case "const" | "default":
                return value
            case "type":
                return _check_type(value)
        if key in LISTS and isinstance(value, Sequence) and not isinstance(value, str):
            return [self._visit(one, depth + 1, open_refs) for one in value]
        if key in BOUNDS:
            return value if isinstance(value, int) and 0 <= value <= MAX_BOUND else None
        if key in TEXTS:
            return clean_text(value, MAX_SHOWN_CHARS) if isinstance(value, str) else None
        return value if key in VALUES else None

    def _resolve(self, reference: str) -> object:
        if reference == "#":
            return self._root
        if not reference.startswith("#/"):
            raise _Unusable("Its arguments refer to another document.")
        node: object = self._root
        for step in reference[2:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, Mapping) or step not in node:
                raise _Unusable("Its arguments refer to something that is missing.")
            node = node[step]
        return node


def _check_key(name: str) -> str:
    if not name or len(name) > MAX_NAME_CHARS or canonicalize(name) != name or "\n" in name:
        raise _Unusable("The name of an argument is very long or has unusual characters.")
    return name


def _check_type(value: object) -> object:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not names or not TYPES.issuperset(map(str, names)):
        raise _Unusable("An argument of it has an unknown type.")
    return value
