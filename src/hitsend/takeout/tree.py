"""Foreign trees of messages, made to follow our rules: people and models take turns.

What is left out of a tree is bridged; messages of one role that follow one another become one.
Branches stay branches. No recursion: a file may be deeper than Python's stack.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from hitsend.errors import BadImport
from hitsend.events import Ending
from hitsend.takeout.taken import TakenMessage

MOST_MESSAGES = 50_000
MOST_DEEP = 10_000
MOST_CHARS = 64_000_000
"""Of one conversation. Where branches share what becomes one message, it is counted for each."""


class Spoken(msgspec.Struct, frozen=True):
    """What is kept of a node."""

    role: Literal["user", "assistant"]
    text: str
    model: str | None = None
    ending: Ending | None = None
    problem: str | None = None


class Node(msgspec.Struct, frozen=True):
    parent: str | None
    spoken: Spoken | None
    """None where nothing of it is kept: what follows it then follows what came before it."""
    created_at: float | None
    children: Sequence[str] = ()
    """In their order. Who belongs to whom, only `parent` says."""


class Tree(NamedTuple):
    messages: tuple[TakenMessage, ...]
    current_node: str | None


def grow(
    nodes: Mapping[str, Node], current: str | None, created_at: float, *, joins_answers: bool = True
) -> Tree:
    """Raises BadImport for what is no tree. `created_at` is for messages that do not say when."""
    if len(nodes) > MOST_MESSAGES:
        raise BadImport(f"It has more than {MOST_MESSAGES:,} messages.")
    order = tuple(_walk(nodes))
    return _Growing(nodes, order, created_at, joins_answers).tree(current)


def _walk(nodes: Mapping[str, Node]) -> Iterator[str]:
    """Every node after its parent, siblings in their order."""
    below: defaultdict[str | None, list[str]] = defaultdict(list)
    for node_id, node in nodes.items():
        if node.parent is not None and node.parent not in nodes:
            raise BadImport("A message in it follows one that is not there.")
        below[node.parent].append(node_id)
    num_seen, waiting = 0, [(node_id, 1) for node_id in reversed(below[None])]
    while waiting:
        node_id, depth = waiting.pop()
        if depth > MOST_DEEP:
            raise BadImport(f"It is more than {MOST_DEEP:,} messages deep.")
        num_seen += 1
        yield node_id
        children = _in_order(below[node_id], nodes[node_id].children)
        waiting += ((child, depth + 1) for child in reversed(children))
    if num_seen < len(nodes):
        raise BadImport("Its messages follow one another in a circle.")


def _in_order(children: list[str], order: Sequence[str]) -> list[str]:
    if len(children) < 2:
        return children
    places = {child: place for place, child in enumerate(order)}
    return sorted(children, key=lambda child: places.get(child, len(places)))


class _Growing:
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
        self._kept: dict[str | None, str | None] = {None: None}
        """A node, and itself or the nearest above it of which something is kept."""
        self._before: dict[str, str] = {}
        """A node, and the one of the same role whose words come first in the same message."""
        self._parents: dict[str, str | None] = {}
        self._joined: dict[str, str] = {}
        """A node, and the last one that its words are also part of."""
        self._followed: set[str] = set()
        """Nodes that a message of the other role follows."""
        self._num_chars = 0

    def tree(self, current: str | None) -> Tree:
        for node_id in self._order:
            self._place(node_id)
        emitted = [node_id for node_id in self._parents if self._is_message(node_id)]
        messages: dict[str, TakenMessage] = {}
        for node_id in emitted:
            messages[node_id] = self._message(node_id, messages)
        shown = self._shown(current)
        return Tree(tuple(messages.values()), shown or (emitted[-1] if emitted else None))

    def _place(self, node_id: str) -> None:
        node = self._nodes[node_id]
        above = self._kept[node.parent]
        if node.spoken is None:
            self._kept[node_id] = above
            return
        self._kept[node_id] = node_id
        if above is not None and self._is_one(above, node.spoken):
            self._before[node_id] = above
            self._joined[above] = node_id
            self._parents[node_id] = self._parents[above]
        else:
            self._parents[node_id] = above
            if above is not None:
                self._followed.add(above)

    def _is_one(self, above: str, spoken: Spoken) -> bool:
        before = self._spoken(above)
        return before.role == spoken.role and (spoken.role == "user" or self._joins_answers)

    def _is_message(self, node_id: str) -> bool:
        """Not one whose words live on in others alone."""
        return node_id not in self._joined or node_id in self._followed

    def _message(self, node_id: str, earlier: Mapping[str, TakenMessage]) -> TakenMessage:
        run = [node_id]
        while run[-1] in self._before:
            run.append(self._before[run[-1]])
        run.reverse()
        text = "\n\n".join(self._spoken(one).text for one in run)
        self._num_chars += len(text)
        if self._num_chars > MOST_CHARS:
            raise BadImport(f"It has more than {MOST_CHARS:,} characters.")
        last, parent_id = self._spoken(node_id), self._parents[node_id]
        times = (self._nodes[one].created_at for one in run)
        fallback = earlier[parent_id].created_at if parent_id else self._created_at
        return TakenMessage(
            id=node_id,
            parent_id=parent_id,
            role=last.role,
            text=text,
            created_at=next((at for at in times if at is not None), fallback),
            model=last.model,
            ending=last.ending,
            problem=last.problem,
        )

    def _spoken(self, node_id: str) -> Spoken:
        spoken = self._nodes[node_id].spoken
        assert spoken is not None
        return spoken

    def _shown(self, current: str | None) -> str | None:
        """The message in which a node is read."""
        shown = self._kept.get(current)
        while shown is not None and not self._is_message(shown):
            shown = self._joined[shown]
        return shown
