"""Statements that are compiled once and run straight on the driver.

SQLAlchemy finds a compiled statement in its cache by walking over the statement, which takes ten
times as long as SQLite takes to run it. The statements of every Send are prepared instead.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    Select,
    TextClause,
    Update,
    bindparam,
    func,
    select,
)
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

DIALECT = sqlite_dialect()

Statement: TypeAlias = Select[*tuple[Any, ...]] | Insert | Update | TextClause
Convert: TypeAlias = Callable[[Any], Any] | None


class Prepared:
    """A statement with named parameters: its `bindparam`s, or the `columns` of an insert."""

    def __init__(self, statement: Statement, *columns: str) -> None:
        compiled = statement.compile(dialect=DIALECT, column_keys=columns or None)
        assert isinstance(compiled, SQLCompiler)
        binds = compiled.binds
        self._sql = compiled.string
        assert "POSTCOMPILE" not in self._sql, "IN has as many parameters as values: use is_one_of"
        self._parameters = [
            (name, binds[name].required, binds[name].value, _bind_processor(binds[name].type))
            for name in compiled.positiontup or ()
        ]
        selected = statement.selected_columns if isinstance(statement, Select) else ()
        converts = [_result_processor(column.type) for column in selected]
        self._converts = [(at, convert) for at, convert in enumerate(converts) if convert]

    def run(self, connection: Connection, **values: object) -> None:
        self._execute(connection, values)

    def run_many(self, connection: Connection, rows: Iterable[Mapping[str, object]]) -> None:
        bound = [self._bind(row) for row in rows]
        self._announce(connection, bound, is_many=True)
        driver_of(connection).executemany(self._sql, bound)

    def rows(self, connection: Connection, **values: object) -> list[tuple[Any, ...]]:
        rows = self._execute(connection, values).fetchall()
        return [self._convert(row) for row in rows] if self._converts else rows

    def first(self, connection: Connection, **values: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._execute(connection, values).fetchone()
        return self._convert(row) if row and self._converts else row

    def _execute(self, connection: Connection, values: Mapping[str, object]) -> sqlite3.Cursor:
        bound = self._bind(values)
        self._announce(connection, bound)
        return driver_of(connection).execute(self._sql, bound)

    def _announce(
        self, connection: Connection, bound: Sequence[object], *, is_many: bool = False
    ) -> None:
        """SQLAlchemy's listeners see prepared statements too."""
        if listeners := connection.dispatch.before_cursor_execute:
            listeners(connection, None, self._sql, bound, None, is_many)

    def _bind(self, values: Mapping[str, object]) -> list[object]:
        bound = []
        for name, is_required, constant, process in self._parameters:
            value = values[name] if is_required else constant
            bound.append(value if process is None else process(value))
        return bound

    def _convert(self, row: Iterable[Any]) -> tuple[Any, ...]:
        values = list(row)
        for at, convert in self._converts:
            values[at] = convert(values[at])
        return tuple(values)


def is_one_of(column: ColumnElement[str], parameter: str) -> ColumnElement[bool]:
    """Has one parameter, made by `as_list`, however many values there are."""
    return column.in_(select(func.json_each(bindparam(parameter)).table_valued("value").c.value))


def as_list(values: Iterable[str]) -> str:
    return msgspec.json.encode(list(values)).decode()


def driver_of(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _bind_processor(kind: TypeEngine[Any]) -> Convert:
    return kind.dialect_impl(DIALECT).bind_processor(DIALECT)


def _result_processor(kind: TypeEngine[Any]) -> Convert:
    return kind.dialect_impl(DIALECT).result_processor(DIALECT, None)
