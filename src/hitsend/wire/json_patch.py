"""The six patch operations on a JSON value, each at the place a JSON Pointer names.

           root ""      object member   array element   string
    add      replace all  set             insert          -
    replace  replace all  set             set             -
    remove   clear        delete          splice out      -
    append   -            merge keys      push or extend  concatenate
    truncate -            -               cut to length   cut to length
    patch    apply a list of the others, each complete, below the path

Lengths of strings count Unicode code points. An operation that does not fit raises BadDelta.
"""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET

Op: TypeAlias = Literal["add", "remove", "replace", "append", "patch", "truncate"]


class BadDelta(Exception):
    """The change does not fit the tree: sender and reader have diverged."""


class PatchItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One item of a patch."""

    p: str
    o: Op
    v: object = UNSET


def apply_op(tree: object, op: Op, path: str, value: object = UNSET) -> object:
    """Returns the changed tree. Containers are changed in place."""
    if op != "remove" and value is UNSET:
        raise BadDelta(f"`{op}` needs a value.")
    if op == "patch":
        return _apply_patch(tree, path, value)
    if path == "":
        return _replace_root(op, value)
    *above, key = _split_pointer(path)
    parent = _resolve(tree, above)
    if isinstance(parent, dict):
        _change_member(parent, key, op, value)
    elif isinstance(parent, list):
        _change_element(parent, key, op, value)
    else:
        raise BadDelta(f"{path!r} points into something that has no parts.")
    return tree


def _apply_patch(tree: object, path: str, value: object) -> object:
    try:
        changes = msgspec.convert(value, list[PatchItem])
    except msgspec.ValidationError as error:
        raise BadDelta(f"This is not a patch: {error}.") from None
    for change in changes:
        if change.o == "patch":
            raise BadDelta("A patch may not hold another patch.")
        tree = apply_op(tree, change.o, path + change.p, change.v)
    return tree


def _replace_root(op: Op, value: object) -> object:
    if op in ("append", "truncate"):
        raise BadDelta(f"`{op}` needs a place below the root.")
    return None if op == "remove" else value


def _change_member(parent: dict[str, object], key: str, op: Op, value: object) -> None:
    if op in ("add", "replace"):
        parent[key] = value
    elif key not in parent:
        raise BadDelta(f"There is no {key!r} to {op}.")
    elif op == "remove":
        del parent[key]
    else:
        parent[key] = _resize(parent[key], op, value)


def _change_element(parent: list[object], key: str, op: Op, value: object) -> None:
    if op == "add":
        parent.insert(len(parent) if key == "-" else _parse_index(key, len(parent) + 1), value)
        return
    at = _parse_index(key, len(parent))
    if op == "remove":
        del parent[at]
    else:
        parent[at] = value if op == "replace" else _resize(parent[at], op, value)


def _resize(target: object, op: Op, value: object) -> object:
    """Returns the target after `append` or `truncate`."""
    match op, target, value:
        case "append", str(), str():
            return target + value
        case "append", list(), list():
            return target + value
        case "append", list(), _:
            return [*target, value]
        case "append", dict(), dict():
            return target | value
        case "truncate", str() | list(), int(length) if _is_length_within(length, len(target)):
            return target[:length]
    raise BadDelta(f"Cannot {op} {type(value).__name__} to {type(target).__name__}.")


def _is_length_within(length: int, most: int) -> bool:
    return not isinstance(length, bool) and 0 <= length <= most


def _resolve(tree: object, path: list[str]) -> object:
    for key in path:
        if isinstance(tree, dict) and key in tree:
            tree = tree[key]
        elif isinstance(tree, list):
            tree = tree[_parse_index(key, len(tree))]
        else:
            raise BadDelta(f"There is no {key!r} on the way.")
    return tree


def _split_pointer(path: str) -> Iterator[str]:
    if not POINTER.fullmatch(path):
        raise BadDelta(f"{path!r} is not a JSON Pointer.")
    return (step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:])


def _parse_index(key: str, end: int) -> int:
    if not INDEX.fullmatch(key) or int(key) >= end:
        raise BadDelta(f"{key!r} is no place in a list of that length.")
    return int(key)


POINTER = re.compile(r"(/([^~/]|~[01])*)+", re.DOTALL)
INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
