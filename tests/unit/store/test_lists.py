"""The sidebar's queries use indexes."""

import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from hitsend.store import Store, User

Question = Callable[[Store, str], Awaitable[object]]

PAGED: dict[str, Question] = {
    "all": lambda s, u: s.conversations.list(u),
    "pinned": lambda s, u: s.conversations.list(u, is_pinned=True),
    "archived": lambda s, u: s.conversations.list(u, is_archived=True),
    "in no folder": lambda s, u: s.conversations.list(u, is_pinned=False, folder_id=None),
    "in a folder": lambda s, u: s.conversations.list(u, folder_id="some"),
}
WHOLE: dict[str, Question] = {
    "folders": lambda s, u: s.folders.list(u),
    "shares": lambda s, u: s.shares.list(u),
    "what to erase": lambda s, u: s.conversations.erase_hidden(),
}


@contextmanager
def collect_statements() -> Iterator[list[tuple[str, Any]]]:
    """Collects every statement that is executed."""
    statements: list[tuple[str, Any]] = []

    def record(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        statements.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", record)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", record)


def plans_of(path: Path, statements: list[tuple[str, Any]]) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return [
            step[3]
            for statement, parameters in statements
            for step in connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]
    finally:
        connection.close()


@pytest.mark.parametrize("name", PAGED | WHOLE)
async def test_no_query_scans_a_whole_table(
    store: Store, ada: User, tmp_path: Path, name: str
) -> None:
    with collect_statements() as statements:
        await (PAGED | WHOLE)[name](store, ada.id)
    plans = plans_of(tmp_path / "data" / "hitsend.db", statements)
    assert any(plan.startswith("SEARCH") for plan in plans)
    assert not any(plan.startswith("SCAN") for plan in plans)


@pytest.mark.parametrize("name", PAGED)
async def test_a_page_is_counted_and_sorted_by_the_index(
    store: Store, ada: User, tmp_path: Path, name: str
) -> None:
    with collect_statements() as statements:
        await PAGED[name](store, ada.id)
    counted, walked = plans_of(tmp_path / "data" / "hitsend.db", statements)
    assert "COVERING INDEX ix_conversations_list" in counted
    assert "INDEX ix_conversations_list" in walked
