from hypothesis import given
from hypothesis import strategies as st

from hitsend.context.window import take_fitting


@given(st.lists(st.text(max_size=30)), st.integers(0, 100))
def test_each_item_that_fits_is_taken_and_one_too_long_does_not_stop_the_rest(
    texts: list[str], num_chars: int
) -> None:
    taken = take_fitting(num_chars, list(enumerate(texts)), lambda item: len(item[1]))
    places = [at for at, _ in taken]
    assert places == sorted(places)
    assert sum(len(text) for _, text in taken) <= num_chars
    for at, text in enumerate(texts):
        num_before = sum(len(other) for place, other in taken if place < at)
        assert (at in places) == (num_before + len(text) <= num_chars)
