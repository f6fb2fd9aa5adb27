"""The window of unacknowledged items is bounded, and redelivers the same bytes."""

from hypothesis import given
from hypothesis import strategies as st

from hitsend.wire.socket import WindowSize
from hitsend.wire.unacked import UnackedWindow
from hitsend.wire.v1 import Item

sizes = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 40)), max_size=30)


def items(sizes: list[tuple[int, int]]) -> list[Item]:
    made, seq = [], 0
    for n, num_bytes in sizes:
        seq += n
        made.append(Item(seq, n, b"x" * num_bytes))
    return made


@given(sizes, st.lists(st.integers(0, 100), max_size=10))
def test_the_window_never_exceeds_its_size(sizes: list[tuple[int, int]], acks: list[int]) -> None:
    window, waiting, inside = (
        UnackedWindow(WindowSize(items=4, bytes=60)),
        items(sizes),
        list[Item](),
    )
    for seq in [*acks, 10**6]:
        while waiting and window.has_room(waiting[0]):
            inside.append(waiting[0])
            window.add(waiting.pop(0))
        assert len(inside) <= 4
        assert sum(len(item.data) for item in inside) <= 60
        left = [item for item in inside if item.seq > seq]
        assert window.ack(seq) is (left != inside)
        inside = left
    assert window.is_empty


def test_an_item_larger_than_the_window_goes_alone() -> None:
    window, large = UnackedWindow(WindowSize(items=4, bytes=10)), Item(1, 1, b"x" * 50)
    assert window.has_room(large)
    window.add(large)
    assert not window.has_room(Item(2, 1, b""))
    assert window.ack(1)
    assert window.has_room(large)


@given(sizes, st.integers(0, 30), st.integers(0, 80), st.integers(0, 20))
def test_redelivery_covers_the_whole_range_or_nothing(
    sizes: list[tuple[int, int]], acked: int, first: int, more: int
) -> None:
    window, made = UnackedWindow(WindowSize(10**6, 10**6)), items(sizes)
    for item in made:
        window.add(item)
    window.ack(acked)
    kept = [item for item in made if item.seq > acked]
    covered = {seq for item in kept for seq in range(item.seq - item.n + 1, item.seq + 1)}
    again = window.items_covering(first, first + more)
    if first in covered:
        assert again is not None
        said = {seq for item in again for seq in range(item.seq - item.n + 1, item.seq + 1)}
        assert covered & set(range(first, first + more + 1)) <= said
        assert all(item in made for item in again)
    else:
        assert again is None
