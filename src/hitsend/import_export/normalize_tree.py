"""Normalizes imported message trees, so that user and assistant messages alternate.

Children of a dropped message move to its parent; consecutive messages of one role are joined.
Branches are kept. No recursion: a file may be deeper than Python's stack.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from hitsend.errors import BadImport
from hitsend.events import Ending
from hitsend.import_export.imported_conversation import ImportedMessage, OtherPart, text_of

MAX_MESSAGES = 50_000
MAX_DEPTH = 10_000
MAX_CHARS = 64_000_000
"""Per conversation. Text shared by several branches counts once per branch."""


class KeptMessage(msgspec.Struct, frozen=True):
    """The imported part of a node."""

    role: Literal["user", "assistant", "tool"]
    text: str
    model: str | None = None
    ending: Ending | None = None
    problem: str | None = None
    other_parts: tuple[OtherPart, ...] = ()


class Node(msgspec.Struct, frozen=True):
    parent: str | None
    kept: KeptMessage | None
    """None if the message is dropped: its children then move to its parent."""
    created_at: float | None
    children: Sequence[str] = ()
    """Gives only the order of siblings; `parent` defines the tree."""


class NormalizedTree(NamedTuple):
    messages: tuple[ImportedMessage, ...]
    current_node: str | None


def normalize_tree(
    nodes: Mapping[str, Node], current: str | None, created_at: float, *, joins_answers: bool = True
) -> NormalizedTree:
    """Raises BadImport if it is no tree. `created_at` is used for messages without a time."""
    if len(nodes) > MAX_MESSAGES:
        raise BadImport(f"It has more than {MAX_MESSAGES:,} messages.")
    order = tuple(_walk_in_order(nodes))
    return _TreeNormalizer(nodes, order, created_at, joins_answers).build(current)


def _walk_in_order(nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yields every node after its parent, siblings in their order."""
    below: defaultdict[str | None, list[str]] = defaultdict(list)
    for node_id, node in nodes.items():
        if node.parent is not None and node.parent not in nodes:
            raise BadImport("A message in it follows one that is missing.")
        below[node.parent].append(node_id)
    num_seen, waiting = 0, [(node_id, 1) for node_id in reversed(below[None])]
    while waiting:
        node_id, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise BadImport(f"It is more than {MAX_DEPTH:,} messages deep.")
        num_seen += 1
        yield node_id
        children = _sort_children(below[node_id], nodes[node_id].children)
        waiting += ((child, depth + 1) for child in reversed(children))
    if num_seen < len(nodes):
        raise BadImport("Its messages follow one another in a circle.")


def _sort_children(children: list[str], order: Sequence[str]) -> list[str]:
    if len(children) < 2:
        return children
    places = {child: place for place, child in enumerate(order)}
    return sorted(children, key=lambda child: places.get(child, len(places)))


class _TreeNormalizer:
    def __init__(
        self,
        nodes: Mapping[str, Node],
        order: Sequence[str],
        created_at: float,
        joins_answers: bool,
    ) -> None:
        self._nodes = nodes
        self._order = order
        self._created_at = created_at
        self._joins_answers = joins_answers
        self._nearest_kept: dict[str | None, str | None] = {None: None}
        """For each node, the nearest kept node at or above it."""
        self._before: dict[str, str] = {}
        """For each node that is joined to an earlier one of the same role, that earlier node."""
        self._parents: dict[str, str | None] = {}
        self._joined: dict[str, str] = {}
        """For each node whose text was joined into a later message, the last such node."""
        self._followed: set[str] = set()
        """Nodes that a message of the other role follows."""
        self._num_chars = 0

    def build(self, current: str | None) -> NormalizedTree:
        for node_id in self._order:
            self._place(node_id)
        emitted = [node_id for node_id in self._parents if self._has_own_message(node_id)]
        messages: dict[str, ImportedMessage] = {}
        for node_id in emitted:
            messages[node_id] = self._build_message(node_id, messages)
        shown = self._find_shown(current)
        return NormalizedTree(tuple(messages.values()), shown or (emitted[-1] if emitted else None))

    def _place(self, node_id: str) -> None:
        node = self._nodes[node_id]
        above = self._nearest_kept[node.parent]
        if node.kept is None:
            self._nearest_kept[node_id] = above
            return
        self._nearest_kept[node_id] = node_id
        if above is not None and self._can_join(above, node.kept):
            self._before[node_id] = above
            self._joined[above] = node_id
            self._parents[node_id] = self._parents[above]
        else:
            self._parents[node_id] = above
            if above is not None:
                self._followed.add(above)

    def _can_join(self, above: str, kept: KeptMessage) -> bool:
        if self._get_kept(above).role != kept.role or kept.role == "tool":
            return False
        return kept.role == "user" or self._joins_answers

    def _has_own_message(self, node_id: str) -> bool:
        """Whether the node becomes a message, and is not only joined into later ones."""
        return node_id not in self._joined or node_id in self._followed

    def _build_message(
        self, node_id: str, earlier: Mapping[str, ImportedMessage]
    ) -> ImportedMessage:
        run = [node_id]
        while run[-1] in self._before:
            run.append(self._before[run[-1]])
        run.reverse()
        text = "\n\n".join(self._get_kept(one).text for one in run)
        self._num_chars += len(text)
        self._num_chars += sum(len(text_of(one)) for one in self._get_kept(node_id).other_parts)
        if self._num_chars > MAX_CHARS:
            raise BadImport(f"It has more than {MAX_CHARS:,} characters.")
        last, parent_id = self._get_kept(node_id), self._parents[node_id]
        times = (self._nodes[one].created_at for one in run)
        fallback = earlier[parent_id].created_at if parent_id else self._created_at
        return ImportedMessage(
            id=node_id,
            parent_id=parent_id,
            role=last.role,
            text=text,
            other_parts=last.other_parts,
            created_at=next((at for at in times if at is not None), fallback),
            model=last.model,
            ending=last.ending,
            problem=last.problem,
        )

    def _get_kept(self, node_id: str) -> KeptMessage:
        kept = self._nodes[node_id].kept
        assert kept is not None
        return kept

    def _find_shown(self, current: str | None) -> str | None:
        """Returns the message that contains the text of a node."""
        shown = self._nearest_kept.get(current)
        while shown is not None and not self._has_own_message(shown):
            shown = self._joined[shown]
        return shown
