"""Normalizing arbitrary message trees."""

from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from hitsend.import_export.imported_conversation import ImportedMessage
from hitsend.import_export.normalize_tree import KeptMessage, Node, normalize_tree

ROLES: list[Literal["user", "assistant"] | None] = ["user", "assistant", None]


@st.composite
def forests(draw: st.DrawFn) -> dict[str, Node]:
    """Random trees. The text of each node is its id, so that it can be found again."""
    nodes: dict[str, Node] = {}
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.sampled_from([None, *nodes]))
        role = draw(st.sampled_from(ROLES))
        kept = KeptMessage(role, str(number)) if role else None
        nodes[str(number)] = Node(parent, kept, float(number))
    return nodes


def kept_texts_above(nodes: dict[str, Node], node_id: str | None) -> list[str]:
    """Returns the kept texts from the root to a node, inclusive."""
    texts: list[str] = []
    while node_id is not None:
        node = nodes[node_id]
        texts += [node.kept.text] if node.kept else []
        node_id = node.parent
    return texts[::-1]


def texts_above(messages: dict[str, ImportedMessage], message_id: str | None) -> list[str]:
    texts: list[str] = []
    while message_id is not None:
        texts = messages[message_id].text.split("\n\n") + texts
        message_id = messages[message_id].parent_id
    return texts


@given(forests(), st.integers(0, 11))
def test_every_path_keeps_its_text_and_roles_alternate(
    nodes: dict[str, Node], current: int
) -> None:
    tree = normalize_tree(nodes, str(current), 0.0)
    messages = {message.id: message for message in tree.messages}
    for message in tree.messages:
        assert texts_above(messages, message.id) == kept_texts_above(nodes, message.id)
        if message.parent_id is not None:
            assert messages[message.parent_id].role != message.role
    ends = {tuple(texts_above(messages, message_id)) for message_id in messages}
    leaves = set(nodes) - {node.parent for node in nodes.values()}
    for leaf in leaves:
        texts = tuple(kept_texts_above(nodes, leaf))
        assert not texts or any(end[: len(texts)] == texts for end in ends)


@given(forests(), st.data())
def test_the_current_node_stays_current(nodes: dict[str, Node], data: st.DataObject) -> None:
    current = data.draw(st.sampled_from(sorted(nodes)))
    tree = normalize_tree(nodes, current, 0.0)
    texts = kept_texts_above(nodes, current)
    if texts:
        messages = {message.id: message for message in tree.messages}
        assert texts_above(messages, tree.current_node)[: len(texts)] == texts


@given(forests())
def test_each_message_comes_after_the_one_it_follows(nodes: dict[str, Node]) -> None:
    seen: set[str | None] = {None}
    for message in normalize_tree(nodes, None, 0.0, joins_answers=False).messages:
        assert message.parent_id in seen
        seen.add(message.id)
