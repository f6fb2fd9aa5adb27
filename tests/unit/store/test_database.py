"""Rows are written in batches that keep their order and their size limits."""

from hypothesis import given
from hypothesis import strategies as st

from hitsend.store.database import MAX_BATCH_CHARS, MAX_BATCH_ROWS, split_batches


@given(st.lists(st.integers(0, MAX_BATCH_CHARS * 2), max_size=MAX_BATCH_ROWS * 3))
def test_batches_hold_all_rows_in_order_within_their_limits(rows: list[int]) -> None:
    batches = list(split_batches(rows, lambda row: row))
    assert [row for batch in batches for row in batch] == rows
    assert all(len(batch) <= MAX_BATCH_ROWS for batch in batches)
    assert all(len(batch) == 1 or sum(batch) <= MAX_BATCH_CHARS for batch in batches)


def test_small_rows_share_batches() -> None:
    assert len(list(split_batches(range(MAX_BATCH_ROWS * 2)))) == 2
