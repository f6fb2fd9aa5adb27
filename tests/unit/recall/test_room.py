from hypothesis import given
from hypothesis import strategies as st

from hitsend.recall import within


@given(st.lists(st.text(max_size=30)), st.integers(0, 100))
def test_what_has_room_is_shown_and_what_has_none_keeps_nothing_out(
    texts: list[str], num_chars: int
) -> None:
    shown = within(num_chars, list(enumerate(texts)), lambda one: len(one[1]))
    places = [at for at, _ in shown]
    assert places == sorted(places)
    assert sum(len(text) for _, text in shown) <= num_chars
    for at, text in enumerate(texts):
        num_before = sum(len(other) for place, other in shown if place < at)
        assert (at in places) == (num_before + len(text) <= num_chars)
