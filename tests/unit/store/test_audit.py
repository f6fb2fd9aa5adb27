"""The audit log: entries are only appended, and `verify` finds whatever else was done to them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts.record_schema import SCHEMAS, load_dump

from hitsend.errors import Refused, StoreDown
from hitsend.store import COMMAND_LINE, SERVER, Actor, AuditFilter, Store, User
from hitsend.store.audit_chain import Head, Link, hash_link, parse_head, verify
from hitsend.store.audit_events import (
    AccountDeleted,
    EarlierChange,
    EntriesExpired,
    ModelPulled,
    ModelRemoved,
    PromptActivated,
    PromptSamplingChanged,
    RoleChanged,
    SignedIn,
)
from hitsend.store.audit_file import read_entries, verify_audit

DAY_S = 86_400
LINKS = st.builds(
    Link,
    position=st.just(0),
    at=st.floats(0, 1e12),
    kind=st.text(),
    actor_id=st.none() | st.text(),
    actor_name=st.none(),
    subject_id=st.none() | st.text(),
    subject_name=st.none(),
    via=st.text(),
    address=st.text(),
    session_id=st.none() | st.text(),
    key_id=st.none() | st.text(),
    agent=st.text(),
    event=st.text(),
)


@pytest.fixture
def path(store: Store) -> Path:
    return store._database.path


@pytest.fixture
async def five(store: Store, ada: User, eve: User) -> Store:
    """A log of five entries: the first two record that the accounts were made."""
    from_home = Actor("page", ada.id, "192.0.2.1", session_id="session", agent="Firefox")
    await store.audit.record(SignedIn(ada.id, "password"), from_home)
    await store.audit.record(RoleChanged(eve.id, "admin"), from_home)
    await store.audit.record(ModelPulled("tiny"), Actor("page", eve.id, "192.0.2.2"))
    return store


async def test_an_entry_says_who_did_what_to_whom_and_from_where(five: Store, ada: User) -> None:
    pulled, promoted, signed_in, *_ = await five.audit.list(10)
    assert (pulled.actor_name, pulled.subject_name) == ("Eve", None)
    assert signed_in.event == SignedIn(ada.id, "password")
    assert (promoted.actor_name, promoted.subject_name) == ("Ada", "Eve")
    assert (promoted.address, promoted.session_id, promoted.agent) == (
        "192.0.2.1",
        "session",
        "Firefox",
    )


async def test_entries_are_found_by_kind_person_time_and_place(
    store: Store, ada: User, eve: User, clock: SimpleNamespace
) -> None:
    await store.audit.record(SignedIn(ada.id, "password"), Actor("page", ada.id))
    clock.now += 100
    await store.audit.record(RoleChanged(eve.id, "admin"), Actor("page", ada.id))
    clock.now += 100
    await store.audit.record(ModelPulled("tiny"), Actor("page", eve.id))

    async def positions(where: AuditFilter) -> list[int]:
        return [entry.position for entry in await store.audit.list(9, where)]

    assert await positions(AuditFilter()) == [5, 4, 3, 2, 1]
    assert await positions(AuditFilter(kinds=("SignedIn", "ModelPulled"))) == [5, 3]
    assert await positions(AuditFilter(user_id=eve.id)) == [5, 4, 2]
    assert await positions(AuditFilter(since=clock.now - 100, until=clock.now)) == [4]
    assert await positions(AuditFilter(before=3)) == [2, 1]
    assert await positions(AuditFilter(before=5, after=2)) == [4, 3]


async def test_a_whole_log_is_verified_while_the_store_is_open_and_after(
    five: Store, path: Path
) -> None:
    verdict = verify_audit(path)
    assert (verdict.num_entries, verdict.newest.position, verdict.problem) == (5, 5, None)
    await five.close()
    assert verify_audit(path) == verdict
    assert [entry.position for entry in read_entries(path)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET at = 1",
        "DELETE FROM audit_log WHERE position = 5",
        "INSERT OR REPLACE INTO audit_log SELECT * FROM audit_log WHERE position = 3",
        "UPDATE audit_names SET name = 'Grace'",
    ],
)
async def test_the_database_refuses_to_change_the_log(
    five: Store, path: Path, statement: str
) -> None:
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="only ever appended"),
    ):
        connection.execute(statement)
    assert verify_audit(path).problem is None


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("UPDATE audit_log SET address = '198.51.100.7' WHERE position = 2", "Entry 2 was changed"),
        ("UPDATE audit_log SET at = at + 1 WHERE position = 1", "Entry 1 was changed"),
        ("UPDATE audit_log SET hash = zeroblob(32) WHERE position = 5", "Entry 5 was changed"),
        ("DELETE FROM audit_log WHERE position = 3", "Entry 3 is missing."),
        ("DELETE FROM audit_log WHERE position = 1", "Entry 1 is missing."),
        ("DELETE FROM audit_log WHERE position > 3", "Entry 4 is missing, with all that followed."),
        ("DELETE FROM audit_log", "Entry 1 is missing, with all that followed."),
        (
            "INSERT INTO audit_log SELECT 6, at, kind, actor_id, actor_name, subject_id, "
            "subject_name, via, address, session_id, key_id, agent, event, hash "
            "FROM audit_log WHERE position = 5",
            "Entry 6 was changed, or does not follow from the one before it.",
        ),
        (
            "UPDATE audit_log SET position = -1 WHERE position = 2;"
            "UPDATE audit_log SET position = 2 WHERE position = 3;"
            "UPDATE audit_log SET position = 3 WHERE position = -1",
            "Entry 2 was changed",
        ),
        (
            "DELETE FROM audit_log WHERE position = 3;"
            "UPDATE audit_log SET position = position - 1 WHERE position > 3",
            "Entry 3 was changed",
        ),
        ("UPDATE audit_names SET name = 'Grace'", "A name in entry 1 was changed."),
        ("DELETE FROM audit_names", "A name in entry 1 was removed, but not with its account."),
        (
            "UPDATE audit_log SET actor_name = subject_name WHERE position = 4",
            "Entry 4 was changed",
        ),
    ],
)
async def test_tampering_is_found_and_the_first_broken_entry_named(
    five: Store, path: Path, script: str, problem: str
) -> None:
    _tamper(path, script)
    assert (verify_audit(path).problem or "").startswith(problem)


async def test_a_cut_end_is_found_even_after_the_log_has_grown_again(
    five: Store, path: Path
) -> None:
    _tamper(path, "DELETE FROM audit_log WHERE position = 5")
    await five.audit.record(ModelRemoved("tiny"), SERVER)
    assert verify_audit(path).problem == "Entry 5 is missing."


async def test_a_log_written_anew_is_found_with_a_hash_kept_elsewhere(
    five: Store, path: Path, clock: SimpleNamespace
) -> None:
    kept = verify_audit(path).newest
    assert verify_audit(path, parse_head(str(kept))).problem is None
    _tamper(path, "DELETE FROM audit_log; DELETE FROM meta WHERE key = 'audit_head'")
    clock.now += 1
    for _ in range(5):
        await five.audit.record(ModelRemoved("tiny"), SERVER)
    assert verify_audit(path).problem is None
    problem = verify_audit(path, kept).problem
    assert problem == "Entry 5 is another one than at the time of the hash given."
    _tamper(path, "DELETE FROM audit_log WHERE position = 5")
    assert "Entry 5 is missing" in (verify_audit(path, kept).problem or "")


@pytest.mark.parametrize("text", ["", "5", "x:00", "5:00", f"0:{'00' * 32}", f"5:{'zz' * 32}"])
def test_a_hash_that_verify_did_not_print_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="a position, a colon and a hash"):
        parse_head(text)


@given(st.lists(LINKS, min_size=1, max_size=6), st.data())
def test_no_change_to_any_entry_escapes(links: list[Link], data: st.DataObject) -> None:
    chained, head = _chain(links)
    assert verify(chained, {}, start=Head(), end=head).problem is None
    place = data.draw(st.integers(0, len(links) - 1))
    link, digest = chained[place]
    field = data.draw(st.sampled_from(["at", "kind", "actor_id", "via", "address", "event"]))
    value = data.draw(st.floats(0, 1e12) if field == "at" else st.text())
    changed = _replace(link, field, value)
    tampered = [*chained[:place], (changed, digest), *chained[place + 1 :]]
    problem = verify(tampered, {}, start=Head(), end=head).problem
    if changed == link:
        assert problem is None
    else:
        assert problem is not None
        assert problem.startswith(f"Entry {place + 1} was changed")


@given(st.lists(LINKS, min_size=2, max_size=6), st.data())
def test_no_removal_and_no_other_order_escapes(links: list[Link], data: st.DataObject) -> None:
    chained, head = _chain(links)
    kept = data.draw(st.lists(st.sampled_from(chained), max_size=len(chained), unique=True))
    problem = verify(kept, {}, start=Head(), end=head).problem
    assert (problem is None) == (kept == chained)


async def test_old_entries_leave_and_the_chain_goes_on_from_their_last_hash(
    store: Store, path: Path, ada: User, clock: SimpleNamespace
) -> None:
    await store.audit.record(SignedIn(ada.id, "password"), Actor("page", ada.id))
    await store.audit.record(ModelPulled("tiny"), COMMAND_LINE)
    kept = verify_audit(path).newest
    clock.now += 20 * DAY_S
    await store.audit.record(ModelRemoved("tiny"), COMMAND_LINE)
    await store.audit.expire(num_days=30)
    assert len(await store.audit.list(10)) == 4, "nothing is old enough"
    clock.now += 12 * DAY_S
    await store.audit.expire(num_days=0)
    assert len(await store.audit.list(10)) == 4, "zero days keep everything"
    await store.audit.expire(num_days=30)
    expired, removed = await store.audit.list(10)
    assert expired.event == EntriesExpired(through=3, hash=kept.hash.hex())
    assert isinstance(removed.event, ModelRemoved)
    verdict = verify_audit(path, kept)
    assert (verdict.num_entries, verdict.num_expired, verdict.problem) == (2, 3, None)
    other = Head(kept.position, bytes(32))
    assert "Entry 3 is another one" in (verify_audit(path, other).problem or "")
    _tamper(path, "DELETE FROM audit_log WHERE position = 4")
    assert verify_audit(path).problem == "Entry 4 is missing."


async def test_a_quiet_log_does_not_grow_by_its_own_expiry(
    store: Store, clock: SimpleNamespace
) -> None:
    await store.audit.record(ModelPulled("tiny"), COMMAND_LINE)
    for _ in range(100):
        clock.now += DAY_S
        await store.audit.expire(num_days=10)
    assert [entry.position for entry in await store.audit.list(10)] == [2]


async def test_a_name_leaves_with_the_last_entry_that_has_it(
    store: Store, path: Path, ada: User, clock: SimpleNamespace
) -> None:
    await store.audit.record(SignedIn(ada.id, "password"), Actor("page", ada.id))
    await store.accounts.rename(ada.id, "Grace")
    clock.now += 40 * DAY_S
    await store.audit.record(SignedIn(ada.id, "password"), Actor("page", ada.id))
    await store.audit.expire(num_days=30)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM audit_names").fetchall() == [("Grace",)]
    assert verify_audit(path).problem is None


async def test_the_names_of_a_deleted_account_are_erased_and_the_chain_holds(
    five: Store, path: Path, ada: User, eve: User
) -> None:
    await five.accounts.rename(eve.id, "Eva")
    await five.audit.record(AccountDeleted(eve.id), Actor("page", ada.id))
    await five.accounts.erase(eve.id)
    entries = await five.audit.list(10)
    names = [(entry.actor_name, entry.subject_name) for entry in entries]
    deleted = promoted = ("Ada", None)
    renamed = pulled = created = (None, None)
    ada_alone = [("Ada", "Ada"), created, (None, "Ada")]
    assert names == [deleted, renamed, pulled, promoted, *ada_alone]
    assert {entry.subject_id for entry in entries} == {ada.id, eve.id, None}
    assert verify_audit(path).problem is None
    await five.close()
    assert not _holds(path, b"Eva", b"Eve")


async def test_earlier_changes_are_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "hitsend.db"
    load_dump(SCHEMAS / "0007.sql", path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany(
            "INSERT INTO audit (at, user_id, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
            [
                (1.5, "ada", "prompt.activated", "title", '{"version":"1001"}'),
                (2, "ada", "prompt.activated", "title", '{"version":"shipped"}'),
                (3, None, "prompt.decoding", "system", '{"sampling":"{\\"temperature\\":0.5}"}'),
            ],
        )
    await (await Store.open(path)).close()
    assert verify_audit(path).problem is None
    older, first, second, third = read_entries(path)
    assert older.event == EarlierChange("prompt_changed", "title", {"version": "1001"})
    assert first.event == PromptActivated("title", 1001)
    assert (first.actor_id, first.actor_name, first.at) == ("ada", "Ada", 1.5)
    assert second.event == PromptActivated("title", None)
    assert third.event == PromptSamplingChanged("system", {"temperature": 0.5})
    assert third.actor_name is None


async def test_a_database_without_an_audit_log_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreDown, match="cannot be opened"):
        verify_audit(tmp_path / "missing.db")
    sqlite3.connect(tmp_path / "other.db").close()
    with pytest.raises(StoreDown, match="start hitsend with it once"):
        verify_audit(tmp_path / "other.db")


def _tamper(path: Path, script: str) -> None:
    """Does what somebody does who can write the file."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        triggers = [f"DROP TRIGGER {name};" for (name,) in names if name.startswith("audit_")]
        connection.executescript("".join(triggers) + script)


def _holds(path: Path, *words: bytes) -> bool:
    content = path.read_bytes()
    return any(word in content for word in words)


def _chain(links: list[Link]) -> tuple[list[tuple[Link, bytes]], Head]:
    chained: list[tuple[Link, bytes]] = []
    digest = bytes(32)
    for position, link in enumerate(links, 1):
        placed = _replace(link, "position", position)
        digest = hash_link(digest, placed)
        chained.append((placed, digest))
    return chained, Head(len(links), digest)


def _replace(link: Link, field: str, value: object) -> Link:
    return msgspec.structs.replace(link, **{field: value})
