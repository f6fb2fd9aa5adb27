"""Work in portions: in order, nothing lost, none too large."""

from hypothesis import given
from hypothesis import strategies as st

from hitsend.store.portions import MOST_CHARS, MOST_ROWS, portions


@given(st.lists(st.integers(0, MOST_CHARS * 2), max_size=MOST_ROWS * 3))
def test_portions_hold_everything_in_its_order_and_no_more_than_they_may(rows: list[int]) -> None:
    made = list(portions(rows, lambda row: row))
    assert [row for portion in made for row in portion] == rows
    assert all(len(portion) <= MOST_ROWS for portion in made)
    assert all(len(portion) == 1 or sum(portion) <= MOST_CHARS for portion in made)


def test_small_rows_share_portions() -> None:
    assert len(list(portions(range(MOST_ROWS * 2)))) == 2
