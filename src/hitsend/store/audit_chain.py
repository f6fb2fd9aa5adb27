"""The hash chain of the audit log: each entry's hash covers the entry and the hash before it.

So whoever changes, removes, inserts or moves an entry has to rewrite all that follow. Someone who
can write the file can do that: only a hash that was kept elsewhere shows it (`Head`).

    hash = SHA-256(hash of the entry before, in 32 bytes, then the entry as a JSON array)
"""

import hashlib
from collections.abc import Iterable, Mapping, Set

import msgspec

from hitsend.errors import Refused

FIRST = bytes(32)
"""Stands for the hash before the first entry."""


class Link(msgspec.Struct, frozen=True):
    """An entry as it is stored, and as its hash covers it."""

    position: int
    at: float
    kind: str
    actor_id: str | None
    actor_name: str | None
    """The hash of the name, see `hash_name`."""
    subject_id: str | None
    subject_name: str | None
    via: str
    address: str
    session_id: str | None
    key_id: str | None
    agent: str
    event: str
    """JSON."""


class Head(msgspec.Struct, frozen=True):
    """The newest entry's place and hash."""

    position: int = 0
    hash: bytes = FIRST

    def __str__(self) -> str:
        return f"{self.position}:{self.hash.hex()}"


class Name(msgspec.Struct, frozen=True):
    """A person's name, which can be erased without breaking the chain."""

    hash: str
    user_id: str
    name: str
    salt: bytes


class Verdict(msgspec.Struct, frozen=True):
    num_entries: int
    """How many were found to be whole."""
    newest: Head
    """The last one of them."""
    num_expired: int = 0
    """How many were removed because of their age, before these."""
    problem: str | None = None
    """Names the first broken entry."""


def parse_head(text: str) -> Head:
    """Reads what `str(head)` wrote."""
    position, _, digest = text.partition(":")
    try:
        head = Head(int(position), bytes.fromhex(digest))
    except ValueError:
        head = Head()
    if head.position < 1 or len(head.hash) != len(FIRST):
        raise Refused("Give what `hitsend audit verify` printed: a position, a colon and a hash.")
    return head


def hash_link(before: bytes, link: Link) -> bytes:
    fields = msgspec.structs.astuple(link)
    return hashlib.sha256(before + msgspec.json.encode(fields)).digest()


def hash_name(salt: bytes, name: str) -> str:
    """The salt keeps an erased name from being guessed."""
    return hashlib.sha256(salt + name.encode()).hexdigest()


def verify(
    links: Iterable[tuple[Link, bytes]],
    names: Mapping[str, Name],
    *,
    start: Head,
    end: Head,
    expected: Head | None = None,
) -> Verdict:
    """Checks all entries with their hashes, oldest first.

    `start` is the last entry that was removed because of its age, `end` the newest as the database
    noted it elsewhere, and `expected` one that somebody has seen as the newest at an earlier time.
    """
    newest = start
    problem = _find_misfit(start, expected)
    nameless: dict[str | None, int] = {}
    for link, digest in links:
        problem = (
            problem
            or _find_break(newest, link, digest)
            or _find_misfit(Head(link.position, digest), expected)
            or _find_wrong_name(link, names)
        )
        if problem:
            break
        newest = Head(link.position, digest)
        _note_missing_names(link, names, nameless)
    problem = problem or _find_missing_end(newest, end, expected) or _find_removed_name(nameless)
    return Verdict(newest.position - start.position, newest, start.position, problem)


def _find_break(before: Head, link: Link, digest: bytes) -> str | None:
    if link.position != before.position + 1:
        return f"Entry {before.position + 1} is missing."
    if digest != hash_link(before.hash, link):
        return f"Entry {link.position} was changed, or does not follow from the one before it."
    return None


def _find_misfit(found: Head, expected: Head | None) -> str | None:
    if expected and found.position == expected.position and found.hash != expected.hash:
        return f"Entry {found.position} is another one than at the time of the hash given."
    return None


def _find_missing_end(newest: Head, end: Head, expected: Head | None) -> str | None:
    last = max(end.position, expected.position if expected else 0)
    if newest.position < last:
        return f"Entry {newest.position + 1} is missing, with all that followed."
    if newest != end:
        return f"Entry {newest.position} is not the newest one that hitsend has noted."
    return None


def _find_wrong_name(link: Link, names: Mapping[str, Name]) -> str | None:
    for user_id, digest in _hashed_names(link):
        name = names.get(digest)
        if name and (name.user_id != user_id or hash_name(name.salt, name.name) != digest):
            return f"A name in entry {link.position} was changed."
    return None


def _note_missing_names(
    link: Link, names: Mapping[str, Name], nameless: dict[str | None, int]
) -> None:
    for user_id, digest in _hashed_names(link):
        if digest not in names:
            nameless.setdefault(user_id, link.position)
    if link.kind == "AccountDeleted":
        nameless[link.subject_id] = 0  # names of deleted accounts are erased


def _find_removed_name(nameless: Mapping[str | None, int]) -> str | None:
    if removed := [position for position in nameless.values() if position]:
        return f"A name in entry {min(removed)} was removed, but not with its account."
    return None


def _hashed_names(link: Link) -> Set[tuple[str | None, str]]:
    """Returns the accounts whose names the entry has, with the hashes of the names."""
    named = (link.actor_id, link.actor_name), (link.subject_id, link.subject_name)
    return {(user_id, digest) for user_id, digest in named if digest is not None}
