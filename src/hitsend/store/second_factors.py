"""Second factors of sign-in: an authenticator app, passkeys and recovery codes.

Knows neither how codes are made nor how passkeys are verified: see `server/auth/codes.py` and
`server/auth/passkeys.py`.
"""

from collections.abc import Collection
from uuid import uuid4

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from hitsend.errors import Conflict, NotFound
from hitsend.store.audit import record
from hitsend.store.audit_events import (
    Actor,
    AnyAuditEvent,
    RecoveryCodesReplaced,
    RecoveryCodeUsed,
    SecondFactorAdded,
    SecondFactorRemoved,
)
from hitsend.store.database import Database, reads, writes
from hitsend.store.rows import Authenticator, NewPasskey, Passkey, SecondFactors
from hitsend.store.schema import sessions
from hitsend.store.second_factor_schema import authenticators, passkeys, recovery_codes

MAX_PASSKEYS = 20
"""Most passkeys of one person."""

AUTHENTICATOR_COLUMNS = tuple(authenticators.c[name] for name in Authenticator.__struct_fields__)
PASSKEY_COLUMNS = tuple(passkeys.c[name] for name in Passkey.__struct_fields__)


class SecondFactorStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def get(self, connection: Connection, user_id: str) -> SecondFactors:
        return _read(connection, user_id)

    @writes
    def set_authenticator(
        self,
        connection: Connection,
        user_id: str,
        secret: str,
        counter: int,
        code_hashes: Collection[str],
        by: Actor,
    ) -> bool:
        """Adds the app, or replaces it. `counter` is that of the code that confirmed it. Returns
        whether the recovery codes are new: they are stored with the first factor."""
        is_first = not _read(connection, user_id).is_on
        values = {
            "secret": secret,
            "last_counter": counter,
            "created_at": self._database.now(),
            "last_used_at": None,
        }
        row = upsert(authenticators).values(user_id=user_id, **values)
        connection.execute(row.on_conflict_do_update(["user_id"], set_=values))
        self._record(connection, SecondFactorAdded(user_id, "authenticator"), by)
        if is_first:
            _turn_on(connection, user_id, code_hashes)
        return is_first

    @writes
    def add_passkey(
        self,
        connection: Connection,
        user_id: str,
        passkey: NewPasskey,
        name: str,
        code_hashes: Collection[str],
        by: Actor,
    ) -> bool:
        """Returns whether the recovery codes are new, as `set_authenticator` does."""
        factors = _read(connection, user_id)
        if len(factors.passkeys) >= MAX_PASSKEYS:
            raise Conflict(f"You have {MAX_PASSKEYS} passkeys. Remove one first.")
        is_known = select(passkeys.c.id).where(passkeys.c.credential_id == passkey.credential_id)
        if connection.scalar(is_known) is not None:
            raise Conflict("This passkey has been added already.")
        row = insert(passkeys).values(
            id=str(uuid4()),
            user_id=user_id,
            credential_id=passkey.credential_id,
            public_key=passkey.public_key,
            sign_count=passkey.sign_count,
            host=passkey.host,
            name=name,
            created_at=self._database.now(),
        )
        connection.execute(row)
        self._record(connection, SecondFactorAdded(user_id, "passkey"), by)
        if not factors.is_on:
            _turn_on(connection, user_id, code_hashes)
        return not factors.is_on

    @writes
    def rename_passkey(
        self, connection: Connection, user_id: str, passkey_id: str, name: str
    ) -> None:
        is_it = passkeys.c.id == passkey_id, passkeys.c.user_id == user_id
        if connection.execute(update(passkeys).where(*is_it).values(name=name)).rowcount == 0:
            raise _passkey_not_found()

    @writes
    def remove_passkey(
        self, connection: Connection, user_id: str, passkey_id: str, by: Actor, *, is_required: bool
    ) -> None:
        is_it = passkeys.c.id == passkey_id, passkeys.c.user_id == user_id
        if connection.execute(delete(passkeys).where(*is_it)).rowcount == 0:
            raise _passkey_not_found()
        self._record(connection, SecondFactorRemoved(user_id, "passkey"), by)
        self._check_rest(connection, user_id, is_required=is_required)

    @writes
    def remove_authenticator(
        self, connection: Connection, user_id: str, by: Actor, *, is_required: bool
    ) -> None:
        is_it = authenticators.c.user_id == user_id
        if connection.execute(delete(authenticators).where(is_it)).rowcount == 0:
            raise NotFound("There is no authenticator app.")
        self._record(connection, SecondFactorRemoved(user_id, "authenticator"), by)
        self._check_rest(connection, user_id, is_required=is_required)

    @writes
    def turn_off(
        self, connection: Connection, user_id: str, by: Actor, *, is_required: bool
    ) -> None:
        _remove_all(connection, user_id)
        self._record(connection, SecondFactorRemoved(user_id, "all"), by)
        self._check_rest(connection, user_id, is_required=is_required)

    @writes
    def reset(self, connection: Connection, user_id: str, by: Actor) -> bool:
        """For someone who lost their phone: removes every second factor and ends all sessions.
        Returns whether there was one; if not, nothing changes."""
        if not _read(connection, user_id).is_on:
            return False
        _remove_all(connection, user_id)
        self._record(connection, SecondFactorRemoved(user_id, "all"), by)
        self._check_rest(connection, user_id, is_required=False)
        is_open = sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None)
        revoke = update(sessions).where(*is_open).values(revoked_at=self._database.now())
        connection.execute(revoke)
        return True

    @writes
    def replace_recovery_codes(
        self, connection: Connection, user_id: str, code_hashes: Collection[str], by: Actor
    ) -> None:
        if not _read(connection, user_id).is_on:
            raise Conflict("Add an authenticator app or a passkey first.")
        _replace_codes(connection, user_id, code_hashes)
        self._record(connection, RecoveryCodesReplaced(user_id), by)

    @reads
    def authenticator_secret(self, connection: Connection, user_id: str) -> str | None:
        query = select(authenticators.c.secret).where(authenticators.c.user_id == user_id)
        return connection.scalar(query)

    @writes
    def use_code(self, connection: Connection, user_id: str, secret: str, counter: int) -> bool:
        """Returns False for a code that was used before, or that is older than one that was."""
        query = update(authenticators).where(
            authenticators.c.user_id == user_id,
            authenticators.c.secret == secret,
            authenticators.c.last_counter < counter,
        )
        values = {"last_counter": counter, "last_used_at": self._database.now()}
        return connection.execute(query.values(values)).rowcount == 1

    @writes
    def use_recovery_code(
        self, connection: Connection, user_id: str, code_hash: str, by: Actor
    ) -> bool:
        """Returns False for a code that is wrong or used."""
        is_it = recovery_codes.c.user_id == user_id, recovery_codes.c.code_hash == code_hash
        is_right = connection.execute(delete(recovery_codes).where(*is_it)).rowcount == 1
        if is_right:
            self._record(connection, RecoveryCodeUsed(user_id), by)
        return is_right

    @writes
    def use_passkey(
        self, connection: Connection, user_id: str, passkey: Passkey, sign_count: int
    ) -> bool:
        """Returns False if it was removed, or used by another request meanwhile."""
        query = update(passkeys).where(
            passkeys.c.id == passkey.id,
            passkeys.c.user_id == user_id,
            passkeys.c.sign_count == passkey.sign_count,
        )
        values = {"sign_count": sign_count, "last_used_at": self._database.now()}
        return connection.execute(query.values(values)).rowcount == 1

    def _check_rest(self, connection: Connection, user_id: str, *, is_required: bool) -> None:
        """After a removal. Recovery codes alone are no second factor."""
        if _read(connection, user_id).is_on:
            return
        if is_required:
            raise Conflict("This server requires two-step sign-in. Add another way first.")
        _replace_codes(connection, user_id, ())

    def _record(self, connection: Connection, event: AnyAuditEvent, by: Actor) -> None:
        """Every change of a person's second factors goes into the audit log here."""
        record(connection, event, by, self._database.now())


def _read(connection: Connection, user_id: str) -> SecondFactors:
    app = select(*AUTHENTICATOR_COLUMNS).where(authenticators.c.user_id == user_id)
    keys = select(*PASSKEY_COLUMNS).where(passkeys.c.user_id == user_id)
    codes = select(func.count()).where(recovery_codes.c.user_id == user_id)
    row = connection.execute(app).one_or_none()
    return SecondFactors(
        authenticator=Authenticator(*row) if row else None,
        passkeys=tuple(
            Passkey(*row) for row in connection.execute(keys.order_by(passkeys.c.created_at))
        ),
        num_recovery_codes=connection.scalar(codes) or 0,
    )


def _remove_all(connection: Connection, user_id: str) -> None:
    connection.execute(delete(authenticators).where(authenticators.c.user_id == user_id))
    connection.execute(delete(passkeys).where(passkeys.c.user_id == user_id))


def _turn_on(connection: Connection, user_id: str, code_hashes: Collection[str]) -> None:
    _replace_codes(connection, user_id, code_hashes)
    is_theirs = sessions.c.user_id == user_id
    connection.execute(update(sessions).where(is_theirs).values(needs_second_factor=False))


def _replace_codes(connection: Connection, user_id: str, code_hashes: Collection[str]) -> None:
    connection.execute(delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
    rows = [{"user_id": user_id, "code_hash": code_hash} for code_hash in code_hashes]
    if rows:
        connection.execute(insert(recovery_codes), rows)


def _passkey_not_found() -> NotFound:
    return NotFound("There is no such passkey.")
