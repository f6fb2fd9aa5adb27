"""Delta encoding v1: a stream of small changes to JSON trees, one tree per channel.

A delta says on which channel (c), where (p), what (o) and with which value (v). A field of
c, p, o that equals the previous delta's is left out, and the reader carries it over. Knows
nothing of messages or SSE; `tree` makes the changes.
"""

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.wire.tree import BadDelta, Op, apply

__all__ = ["NOTHING", "BadDelta", "Carry", "Delta", "DeltaDecoder", "DeltaEncoder", "Op", "apply"]


class Delta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change as it is sent. What is unset equals the delta before it."""

    p: str | UnsetType = UNSET
    o: Op | UnsetType = UNSET
    v: object = UNSET
    c: int | UnsetType = UNSET


class Carry(msgspec.Struct, frozen=True):
    """What the next delta may leave out. All None before the first."""

    c: int | None = None
    p: str | None = None
    o: Op | None = None


NOTHING = Carry()


class DeltaEncoder:
    """Leaves out of each delta what its reader already knows."""

    def __init__(self, carry: Carry = NOTHING) -> None:
        self.carry = carry

    def encode(self, channel: int, path: str, op: Op, value: object) -> Delta:
        before, now = self.carry, Carry(channel, path, op)
        self.carry = now
        return Delta(
            p=UNSET if now.p == before.p else path,
            o=UNSET if now.o == before.o else op,
            v=value,
            c=UNSET if now.c == before.c else channel,
        )


class DeltaDecoder:
    """Applies deltas in order. After a BadDelta its trees are not to be trusted."""

    def __init__(self, carry: Carry = NOTHING) -> None:
        self._carry = carry
        self._trees: dict[int, object] = {}
        self._tail: list[str] | None = None
        """Text still to be appended where the last delta pointed. A long answer in many
        pieces so costs its length once, and not once per piece."""

    def decode(self, data: bytes | str) -> int:
        """Make the change; returns the channel it was made on."""
        try:
            return self.take(_decode(data))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadDelta(f"This is not a delta: {error}.") from None

    def take(self, delta: Delta) -> int:
        channel, path, op = _carried(self._carry, delta)
        if self._tail is not None and isinstance(delta.v, str) and _is_bare(delta):
            self._tail.append(delta.v)
            return channel
        self._settle()
        if channel not in self._trees and (path != "" or op not in ("add", "replace")):
            raise BadDelta(f"There is nothing on channel {channel} to {op} to.")
        self._trees[channel] = apply(self._trees.get(channel), op, path, delta.v)
        self._carry = Carry(channel, path, op)
        self._tail = [] if op == "append" and isinstance(delta.v, str) else None
        return channel

    @property
    def carry(self) -> Carry:
        return self._carry

    def resume(self, carry: Carry) -> None:
        """Go on from here, with the trees as they are."""
        self._settle()
        self._carry = carry

    def tree(self, channel: int) -> object:
        self._settle()
        if channel not in self._trees:
            raise BadDelta(f"There is nothing on channel {channel}.")
        return self._trees[channel]

    @property
    def channels(self) -> list[int]:
        """In the order they began."""
        return list(self._trees)

    def _settle(self) -> None:
        carry, tail, self._tail = self._carry, self._tail, None
        if tail and carry.c is not None and carry.p is not None:
            self._trees[carry.c] = apply(self._trees[carry.c], "append", carry.p, "".join(tail))


_decode = msgspec.json.Decoder(Delta).decode


def _is_bare(delta: Delta) -> bool:
    return delta.p is UNSET and delta.o is UNSET and delta.c is UNSET


def _carried(carry: Carry, delta: Delta) -> tuple[int, str, Op]:
    channel = carry.c if delta.c is UNSET else delta.c
    path = carry.p if delta.p is UNSET else delta.p
    op = carry.o if delta.o is UNSET else delta.o
    if channel is None or path is None or op is None:
        raise BadDelta("The first delta must say its channel, path and operation.")
    return channel, path, op
