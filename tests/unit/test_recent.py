"""What was put last is there, and never more than there is room for."""

from hypothesis import given
from hypothesis import strategies as st

from hitsend.recent import Recent

puts = st.lists(st.tuples(st.integers(0, 9), st.text(max_size=9)))
rooms = st.integers(0, 20)


def newest_first(put: list[tuple[int, str]]) -> dict[int, str]:
    newest = dict[int, str]()
    for key, value in reversed(put):
        newest.setdefault(key, value)
    return newest


@given(puts, rooms)
def test_the_last_so_many_are_there_and_no_others(put: list[tuple[int, str]], room: int) -> None:
    recent = Recent[int, str](room)
    for key, value in put:
        recent[key] = value
        assert len(recent) <= room
    last = list(newest_first(put).items())[:room]
    assert list(recent.items()) == last[::-1]


@given(puts, rooms)
def test_their_sizes_add_up_to_no_more_than_the_room(put: list[tuple[int, str]], room: int) -> None:
    recent = Recent[int, str](room, len)
    for key, value in put:
        recent[key] = value
        assert sum(map(len, recent.values())) <= room
        assert (key in recent) == (len(value) <= room)


@given(puts, st.sets(st.integers(0, 9)))
def test_what_is_taken_out_gives_its_room_back(put: list[tuple[int, str]], taken: set[int]) -> None:
    recent = Recent[int, str](90, len)
    recent.update(put)
    for key in taken:
        recent.pop(key, None)
    for key in taken:
        recent[key] = "123456789"
    assert recent == {**newest_first(put), **dict.fromkeys(taken, "123456789")}


def test_what_is_put_back_when_it_is_used_stays() -> None:
    recent = Recent[str, int](2)
    recent.update(tea=1, coffee=2)
    recent["tea"] = recent["tea"]
    recent["milk"] = 3
    assert recent == {"tea": 1, "milk": 3}


def test_looking_keeps_nothing() -> None:
    recent = Recent[str, int](2)
    recent.update(tea=1, coffee=2)
    assert recent["tea"] == 1
    recent["milk"] = 3
    assert recent.get("tea") is None
