"""Trees of any kind, made to follow our rules."""

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from hitsend.takeout.taken import TakenMessage
from hitsend.takeout.tree import Node, Spoken, grow

ROLES: list[Literal["user", "assistant"] | None] = ["user", "assistant", None]


@st.composite
def forests(draw: st.DrawFn) -> dict[str, Node]:
    """Each node says its own name, so that every word can be found again."""
    nodes: dict[str, Node] = {}
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.sampled_from([None, *nodes]))
        role = draw(st.sampled_from(ROLES))
        spoken = Spoken(role, str(number)) if role else None
        nodes[str(number)] = Node(parent, spoken, float(number))
    return nodes


def spoken_above(nodes: dict[str, Node], node_id: str | None) -> list[str]:
    """What was said on the way to a node, it included."""
    said: list[str] = []
    while node_id is not None:
        node = nodes[node_id]
        said += [node.spoken.text] if node.spoken else []
        node_id = node.parent
    return said[::-1]


def read_above(messages: dict[str, TakenMessage], message_id: str | None) -> list[str]:
    said: list[str] = []
    while message_id is not None:
        said = messages[message_id].text.split("\n\n") + said
        message_id = messages[message_id].parent_id
    return said


@given(forests(), st.integers(0, 11))
def test_every_path_reads_as_it_did_and_people_and_models_take_turns(
    nodes: dict[str, Node], current: int
) -> None:
    tree = grow(nodes, str(current), 0.0)
    messages = {message.id: message for message in tree.messages}
    for message in tree.messages:
        assert read_above(messages, message.id) == spoken_above(nodes, message.id)
        if message.parent_id is not None:
            assert messages[message.parent_id].role != message.role
    ends = {tuple(read_above(messages, message_id)) for message_id in messages}
    leaves = set(nodes) - {node.parent for node in nodes.values()}
    for leaf in leaves:
        said = tuple(spoken_above(nodes, leaf))
        assert not said or any(end[: len(said)] == said for end in ends)


@given(forests(), st.data())
def test_what_was_shown_last_is_shown_last(nodes: dict[str, Node], data: st.DataObject) -> None:
    current = data.draw(st.sampled_from(sorted(nodes)))
    tree = grow(nodes, current, 0.0)
    said = spoken_above(nodes, current)
    if said:
        messages = {message.id: message for message in tree.messages}
        assert read_above(messages, tree.current_node)[: len(said)] == said


@given(forests())
def test_each_message_comes_after_the_one_it_follows(nodes: dict[str, Node]) -> None:
    seen: set[str | None] = {None}
    for message in grow(nodes, None, 0.0, joins_answers=False).messages:
        assert message.parent_id in seen
        seen.add(message.id)
