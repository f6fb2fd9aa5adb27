"""Delta encoding v1: a stream of small changes to JSON trees, one tree per channel.

A delta has a channel (c), a path (p), an operation (o) and a value (v). A c, p or o that equals
the previous delta's is omitted, and the reader carries it over. Knows nothing of messages or
SSE; `json_patch` applies the operations.
"""

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.wire.json_patch import BadDelta, Op, apply_op

__all__ = ["NO_CARRY", "BadDelta", "Carry", "Delta", "DeltaDecoder", "DeltaEncoder", "Op"]


class Delta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change on the wire. An unset c, p or o equals the previous delta's."""

    p: str | UnsetType = UNSET
    o: Op | UnsetType = UNSET
    v: object = UNSET
    c: int | UnsetType = UNSET


class Carry(msgspec.Struct, frozen=True):
    """Channel, path and operation that the next delta may omit. All None before the first."""

    c: int | None = None
    p: str | None = None
    o: Op | None = None


NO_CARRY = Carry()


class DeltaEncoder:
    """Omits the fields of each delta that equal the previous one's."""

    def __init__(self) -> None:
        self.carry = NO_CARRY

    def encode(self, channel: int, path: str, op: Op, value: object) -> Delta:
        previous, self.carry = self.carry, Carry(channel, path, op)
        return Delta(
            p=UNSET if path == previous.p else path,
            o=UNSET if op == previous.o else op,
            v=value,
            c=UNSET if channel == previous.c else channel,
        )


class DeltaDecoder:
    """Applies deltas in order. After a BadDelta its trees may be wrong."""

    def __init__(self) -> None:
        self.carry = NO_CARRY
        self._trees: dict[int, object] = {}
        self._tail: list[str] | None = None
        """Text not yet appended at the last delta's path. Joining it once keeps a long answer
        in many deltas linear."""

    def decode(self, data: bytes | str) -> int:
        """Applies the delta; returns its channel."""
        try:
            return self.apply(_decode(data))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadDelta(f"This is not a delta: {error}.") from None

    def apply(self, delta: Delta) -> int:
        channel, path, op = _fill_in(self.carry, delta)
        if self._tail is not None and isinstance(delta.v, str) and _is_value_only(delta):
            self._tail.append(delta.v)
            return channel
        self._flush_tail()
        if channel not in self._trees and (path != "" or op not in ("add", "replace")):
            raise BadDelta(f"There is nothing on channel {channel} to {op} to.")
        self._trees[channel] = apply_op(self._trees.get(channel), op, path, delta.v)
        self.carry = Carry(channel, path, op)
        self._tail = [] if op == "append" and isinstance(delta.v, str) else None
        return channel

    def resume(self, carry: Carry) -> None:
        """Continues with this carry and the present trees."""
        self._flush_tail()
        self.carry = carry

    def tree(self, channel: int) -> object:
        self._flush_tail()
        if channel not in self._trees:
            raise BadDelta(f"There is nothing on channel {channel}.")
        return self._trees[channel]

    @property
    def channels(self) -> list[int]:
        """In the order in which they were added."""
        return list(self._trees)

    def _flush_tail(self) -> None:
        carry, tail, self._tail = self.carry, self._tail, None
        if tail and carry.c is not None and carry.p is not None:
            self._trees[carry.c] = apply_op(self._trees[carry.c], "append", carry.p, "".join(tail))


_decode = msgspec.json.Decoder(Delta).decode


def _is_value_only(delta: Delta) -> bool:
    return delta.p is UNSET and delta.o is UNSET and delta.c is UNSET


def _fill_in(carry: Carry, delta: Delta) -> tuple[int, str, Op]:
    channel = carry.c if delta.c is UNSET else delta.c
    path = carry.p if delta.p is UNSET else delta.p
    op = carry.o if delta.o is UNSET else delta.o
    if channel is None or path is None or op is None:
        raise BadDelta("The first delta must say its channel, path and operation.")
    return channel, path, op
