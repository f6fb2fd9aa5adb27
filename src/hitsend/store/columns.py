"""What tables are made of: columns that hold words of a closed list or values as JSON, and the
collection all tables are in."""

from typing import Generic, TypeVar

import msgspec
from sqlalchemy import Dialect, ForeignKey, MetaData, Text
from sqlalchemy.types import TypeDecorator

T = TypeVar("T")


class Word(TypeDecorator[T], Generic[T]):
    """A word of a closed list. Only the type checker knows which."""

    impl = Text
    cache_ok = True


class Json(TypeDecorator[T], Generic[T]):
    """A value of a known type, as JSON text: SQLite's own JSON functions can read it."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: object) -> None:
        super().__init__()
        self.kind = kind
        self._decoder = msgspec.json.Decoder(kind)

    def process_bind_param(self, value: T | None, dialect: Dialect) -> str | None:
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> T | None:
        return None if value is None else self._decoder.decode(value)


metadata = MetaData()


def part_of(column: str) -> ForeignKey:
    """What it belongs to; it goes when that goes."""
    return ForeignKey(column, ondelete="CASCADE")
