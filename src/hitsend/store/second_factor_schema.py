"""The tables of second factors."""

from sqlalchemy import Column, Integer, LargeBinary, Named, Table, Text, TypedColumns

from hitsend.store.schema import metadata, part_of


class AuthenticatorColumns(TypedColumns):
    """A person's authenticator app, which makes a code every 30 seconds (TOTP)."""

    user_id: Named[str] = Column(Text, part_of("users.id"), primary_key=True)
    secret: Named[str] = Column(Text)
    """The same secret that the app has: see docs/decisions/0019-second-factors.md."""
    last_counter: Named[int]
    """The step in time of the newest code used. Older codes are refused, and this one too."""
    created_at: Named[float]
    last_used_at: Named[float | None]


authenticators = Table("authenticators", metadata, AuthenticatorColumns)


class PasskeyColumns(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    user_id: Named[str] = Column(Text, part_of("users.id"), index=True)
    credential_id: Named[bytes] = Column(LargeBinary, unique=True)
    """Chosen by the authenticator."""
    public_key: Named[bytes] = Column(LargeBinary)
    sign_count: Named[int] = Column(Integer)
    """Grows with each use, unless the authenticator always says 0."""
    host: Named[str] = Column(Text)
    """The host name it was made for. It works under no other."""
    name: Named[str] = Column(Text)
    created_at: Named[float]
    last_used_at: Named[float | None]


passkeys = Table("passkeys", metadata, PasskeyColumns)


class RecoveryCodeColumns(TypedColumns):
    """Codes that are not used yet, as hashes."""

    user_id: Named[str] = Column(Text, part_of("users.id"), primary_key=True)
    code_hash: Named[str] = Column(Text, primary_key=True)


recovery_codes = Table("recovery_codes", metadata, RecoveryCodeColumns)
