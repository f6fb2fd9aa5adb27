"""Writes web/src/api/events.gen.ts from hitsend.events, so the browser cannot disagree with us.

With --check it writes nothing and fails when the file is not what it would write.
"""

import re
import sys
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import inspect as msgs

from hitsend import events, messages

TARGET = Path(__file__).parent.parent / "web" / "src" / "api" / "events.gen.ts"
HEADER = "// Written by `make generate` from hitsend.events. Do not edit."

CHOICES = {
    "Action": get_args(events.Action),
    "Ending": get_args(events.Ending),
    "Role": get_args(messages.Role),
    "Source": get_args(messages.Source),
}
"""Lists of words that have a name of their own; any other is written out where it stands."""

Seen = dict[str, msgs.StructType]
"""The structs met on the way, by the name of their TypeScript twin."""


def main() -> int:
    written = generate()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(written)
        return 0
    if TARGET.exists() and TARGET.read_text() == written:
        return 0
    print(f"{TARGET.name} is not what hitsend.events says: run `make generate`.", file=sys.stderr)
    return 1


def generate() -> str:
    stamped = msgs.type_info(events.Stamped)
    union = msgs.type_info(events.AnyEvent)
    assert isinstance(stamped, msgs.StructType)
    assert isinstance(union, msgs.UnionType)
    seen: Seen = {"Stamped": stamped}
    arms = [_reference(kind, seen) for kind in union.types]
    declared: dict[str, str] = {}
    while missing := [name for name in seen if name not in declared]:
        for name in missing:
            declared[name] = _declaration(name, seen[name], seen)
    for name, words in CHOICES.items():
        declared[name] = f"export type {name} = {_either(words)};\n"
    union_of_all = "export type Event =\n\t| " + "\n\t| ".join(arms) + ";\n"
    return "\n".join([HEADER, "", union_of_all, *(declared[name] for name in sorted(declared))])


def _declaration(name: str, struct: msgs.StructType, seen: Seen) -> str:
    if struct.array_like:
        members = ", ".join(f"{_camel(f.name)}: {_ts(f.type, seen)}" for f in struct.fields)
        return f"export type {name} = [{members}];\n"
    lines = [f"\t{_member(f)}: {_ts(f.type, seen)};" for f in struct.fields]
    if struct.tag_field is not None:
        lines.insert(0, f"\t{struct.tag_field}: '{struct.tag}';")
    return "\n".join([f"export interface {name} {{", *lines, "}\n"])


def _member(field: msgs.Field) -> str:
    """What may be left out is not required, and nothing stands in for it."""
    stands_in = (field.default, field.default_factory)
    is_optional = not field.required and stands_in == (msgspec.NODEFAULT, msgspec.NODEFAULT)
    return f"{field.encode_name}?" if is_optional else field.encode_name


def _ts(kind: msgs.Type, seen: Seen) -> str:
    match kind:
        case msgs.StrType():
            return "string"
        case msgs.IntType() | msgs.FloatType():
            return "number"
        case msgs.BoolType():
            return "boolean"
        case msgs.NoneType():
            return "null"
        case msgs.LiteralType(values=values):
            return _choice(values)
        case msgs.Metadata(type=inner):
            return _ts(inner, seen)
        case msgs.VarTupleType(item_type=item) | msgs.ListType(item_type=item):
            return _array_of(_ts(item, seen))
        case msgs.TupleType(item_types=items):
            return f"[{', '.join(_ts(item, seen) for item in items)}]"
        case msgs.UnionType(types=kinds):
            return "Event" if _is_every_event(kinds) else " | ".join(_ts(k, seen) for k in kinds)
        case msgs.StructType():
            return _reference(kind, seen)
        case _:
            raise TypeError(f"There is no TypeScript for {kind!r}.")


def _choice(values: tuple[object, ...]) -> str:
    named = (name for name, words in CHOICES.items() if set(words) == set(values))
    return next(named, None) or _either(values)


def _either(values: tuple[object, ...]) -> str:
    return " | ".join(f"'{value}'" for value in values)


def _array_of(item: str) -> str:
    return f"{item}[]" if re.fullmatch(r"\w+", item) else f"({item})[]"


def _is_every_event(kinds: tuple[msgs.Type, ...]) -> bool:
    return all(isinstance(k, msgs.StructType) and issubclass(k.cls, events.Event) for k in kinds)


def _reference(kind: msgs.Type, seen: Seen) -> str:
    assert isinstance(kind, msgs.StructType)
    cls: type[msgspec.Struct] = kind.cls
    seen[cls.__name__] = kind
    return cls.__name__


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


if __name__ == "__main__":
    sys.exit(main())
