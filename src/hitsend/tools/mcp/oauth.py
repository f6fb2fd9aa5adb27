"""Signs people in at servers with OAuth 2.1, and keeps their tokens fresh.

A sign-in begins here, goes on at the authorisation server, and comes back to the same person's
page. What it needs meanwhile is stored encrypted, so it survives a restart. Each person has tokens
of their own: nobody acts at a server as somebody else.
"""

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, urlencode
from weakref import WeakValueDictionary

import msgspec

from hitsend.credentials import hash_token, new_token
from hitsend.errors import HitsendError, Refused, Unavailable
from hitsend.store import Actor, Store
from hitsend.store.mcp_rows import McpServer
from hitsend.tools.mcp.definitions import clean_line
from hitsend.tools.mcp.http_transport import Authorization
from hitsend.tools.mcp.server_secrets import ServerSecrets
from hitsend.tools.mcp.vault import Vault

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthMetadata

    from hitsend.tools.mcp.oauth_discovery import OAuthClient, OAuthHttp

SIGN_IN_S = 900.0
"""How long a sign-in may take."""
REFRESH_EARLY_S = 60.0
"""Tokens are renewed this long before they expire."""
MAX_SCOPE_CHARS = 2_000


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """With all that a refresh needs."""

    access_token: str
    refresh_token: str = ""
    expires_at: float | None = None
    scope: str = ""
    resource: str
    token_endpoint: str
    issuer: str
    client_id: str
    client_secret: str = ""
    method: str = "none"


class PendingSignIn(msgspec.Struct, frozen=True, kw_only=True):
    verifier: str
    redirect_uri: str
    scope: str
    resource: str
    token_endpoint: str
    issuer: str
    has_iss: bool
    client_id: str
    client_secret: str
    method: str


class TokenReply(msgspec.Struct, frozen=True):
    access_token: str
    token_type: str = "Bearer"
    expires_in: float | None = None
    refresh_token: str = ""
    scope: str = ""


class ErrorReply(msgspec.Struct, frozen=True):
    error: str = ""


class Callback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the authorisation server sent the browser back with."""

    state: str
    code: str = ""
    iss: str | None = None
    error: str = ""


class Http(Protocol):
    """Makes the requests to authorisation servers of a server."""

    def __call__(self, server: McpServer) -> "OAuthHttp": ...


class SignIns:
    def __init__(self, store: Store, vault: Vault, http: Http) -> None:
        self._servers = store.mcp_servers
        self._store = store.mcp_sign_ins
        self._vault = vault
        self._http = http
        self._challenges: dict[tuple[str, str], str] = {}
        """Of servers that want a sign-in of a person, or a wider one."""
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def needs_sign_in(self, server_id: str, user_id: str) -> bool:
        return (server_id, user_id) in self._challenges

    def note_challenge(self, server_id: str, user_id: str, challenge: str) -> None:
        self._challenges[server_id, user_id] = challenge

    def forget_challenge(self, server_id: str, user_id: str) -> None:
        self._challenges.pop((server_id, user_id), None)

    async def begin(
        self, server: McpServer, user_id: str, base_url: str, entered: ServerSecrets
    ) -> str:
        """Returns the address to send the browser to. Raises Refused and Unavailable."""
        from hitsend.tools.mcp.oauth_discovery import find_authority

        http = self._http(server)
        challenge = self._challenges.get((server.id, user_id))
        if challenge is None:
            challenge = await _ask_for_challenge(http, server.url)
        authority = await find_authority(http, server.url, challenge)
        metadata = authority.metadata
        redirect_uri = f"{base_url}/oauth/callback"
        before = await self._read_tokens(server.id, user_id)
        scope = _unite(before.scope if before else "", authority.scope)
        client = await self._find_client(
            http, server, metadata, redirect_uri, scope, base_url, entered
        )
        state, verifier = new_token(), secrets.token_urlsafe(48)
        pending = PendingSignIn(
            verifier=verifier,
            redirect_uri=redirect_uri,
            scope=scope,
            resource=authority.resource,
            token_endpoint=str(metadata.token_endpoint),
            issuer=str(metadata.issuer),
            has_iss=metadata.authorization_response_iss_parameter_supported is True,
            client_id=client.client_id,
            client_secret=client.client_secret,
            method=client.method,
        )
        sealed = self._vault.seal(pending, f"sign-in:{server.id}:{user_id}")
        expires_at = time.time() + SIGN_IN_S
        await self._store.begin(hash_token(state), server.id, user_id, sealed, expires_at)
        asked = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
            "resource": authority.resource,
        } | ({"scope": scope} if scope else {})
        endpoint = str(metadata.authorization_endpoint)
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def finish(self, callback: Callback, user_id: str, by: Actor) -> str:
        """Returns the id of the server. Raises Refused, NotFound and Unavailable."""
        taken = await self._store.take(hash_token(callback.state), user_id)
        server = await self._servers.find_usable(taken.server_id, user_id)
        purpose = f"sign-in:{server.id}:{user_id}"
        pending = self._vault.open(taken.sealed, PendingSignIn, purpose)
        if callback.iss != pending.issuer and (callback.iss is not None or pending.has_iss):
            # Otherwise one issuer could be given the code of another.
            raise Refused("The sign-in came back from another place than it was sent to.")
        if callback.error or not callback.code:
            reason = clean_line(callback.error, 100) or "no code came back"
            raise Refused(f"You are not signed in at {server.title}: {reason}.")
        reply = await self._ask_for_tokens(
            server,
            pending.token_endpoint,
            OAuthIdentity(pending.client_id, pending.client_secret, pending.method),
            {
                "grant_type": "authorization_code",
                "code": callback.code,
                "redirect_uri": pending.redirect_uri,
                "code_verifier": pending.verifier,
                "resource": pending.resource,
            },
        )
        tokens = Tokens(
            access_token=reply.access_token,
            refresh_token=reply.refresh_token,
            expires_at=_expires_at(reply),
            scope=(reply.scope or pending.scope)[:MAX_SCOPE_CHARS],
            resource=pending.resource,
            token_endpoint=pending.token_endpoint,
            issuer=pending.issuer,
            client_id=pending.client_id,
            client_secret=pending.client_secret,
            method=pending.method,
        )
        sealed = self._vault.seal(tokens, _purpose(server.id, user_id))
        await self._store.set_token(server.id, user_id, sealed, by=by)
        self._challenges.pop((server.id, user_id), None)
        return server.id

    async def sign_out(self, server_id: str, user_id: str, by: Actor) -> None:
        await self._store.delete_token(server_id, user_id, by)

    def authorization(self, server: McpServer, user_id: str) -> Authorization:
        return _PersonalAuthorization(self, server, user_id)

    async def fresh_token(
        self, server: McpServer, user_id: str, used: str | None = None
    ) -> str | None:
        """Returns an access token that is still good for a while, and is not `used`, which was
        refused. None if the person has to sign in."""
        lock = self._locks.setdefault((server.id, user_id), asyncio.Lock())
        async with lock:
            sealed = await self._store.token(server.id, user_id)
            if sealed is None:
                return None
            tokens = self._vault.open(sealed, Tokens, _purpose(server.id, user_id))
            is_old = (
                tokens.expires_at is not None and tokens.expires_at - time.time() < REFRESH_EARLY_S
            )
            if not is_old and tokens.access_token != used:
                return tokens.access_token
            if not tokens.refresh_token:
                is_over = tokens.access_token == used or (tokens.expires_at or 0) <= time.time()
                return None if is_over else tokens.access_token
            return await self._refresh(server, user_id, tokens, sealed)

    async def _refresh(
        self, server: McpServer, user_id: str, tokens: Tokens, sealed: bytes
    ) -> str | None:
        try:
            reply = await self._ask_for_tokens(
                server,
                tokens.token_endpoint,
                OAuthIdentity(tokens.client_id, tokens.client_secret, tokens.method),
                {
                    "grant_type": "refresh_token",
                    "refresh_token": tokens.refresh_token,
                    "resource": tokens.resource,
                },
            )
        except Refused:
            # It was revoked there. Only a new sign-in helps.
            await self._store.delete_token(server.id, user_id)
            return None
        renewed = msgspec.structs.replace(
            tokens,
            access_token=reply.access_token,
            refresh_token=reply.refresh_token or tokens.refresh_token,
            expires_at=_expires_at(reply),
            scope=(reply.scope or tokens.scope)[:MAX_SCOPE_CHARS],
        )
        new = self._vault.seal(renewed, _purpose(server.id, user_id))
        is_stored = await self._store.set_token(server.id, user_id, new, replaces=sealed)
        return renewed.access_token if is_stored else None

    async def _ask_for_tokens(
        self,
        server: McpServer,
        endpoint: str,
        identity: "OAuthIdentity",
        fields: Mapping[str, str],
    ) -> TokenReply:
        """Raises Refused if they are denied, Unavailable if no proper answer comes."""
        headers, form = identity.sign(fields)
        response = await self._http(server).send("POST", endpoint, headers=headers, form=form)
        if response.status_code in (400, 401, 403):
            try:
                error = msgspec.json.decode(response.content, type=ErrorReply).error
            except (msgspec.MsgspecError, UnicodeDecodeError):
                error = ""
            reason = clean_line(error, 100) or f"error {response.status_code}"
            raise Refused(f"{server.title} does not accept the sign-in: {reason}.")
        try:
            if response.status_code != 200:
                raise msgspec.ValidationError
            reply = msgspec.json.decode(response.content, type=TokenReply)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise Unavailable(
                f"The sign-in of {server.title} did not answer properly ({response.status_code})."
            ) from None
        if reply.token_type.lower() != "bearer" or not reply.access_token.isascii():
            raise Unavailable(f"The sign-in of {server.title} gave a token of an unknown kind.")
        return reply

    async def _find_client(
        self,
        http: "OAuthHttp",
        server: McpServer,
        metadata: "OAuthMetadata",
        redirect_uri: str,
        scope: str,
        base_url: str,
        entered: ServerSecrets,
    ) -> "OAuthClient":
        """By hand, by our own document, or registered dynamically: once for all people."""
        from hitsend.tools.mcp.oauth_discovery import OAuthClient, is_client_of, register

        if entered.client_id:
            method = "client_secret_post" if entered.client_secret else "none"
            if entered.client_secret and "client_secret_post" not in (
                metadata.token_endpoint_auth_methods_supported or ("client_secret_basic",)
            ):
                method = "client_secret_basic"
            return OAuthClient(entered.client_id, entered.client_secret, method)
        if metadata.client_id_metadata_document_supported and base_url.startswith("https://"):
            return OAuthClient(f"{base_url}/oauth/client.json")
        purpose = f"client:{server.id}"
        known: OAuthClient | None = None
        if (sealed := await self._store.client(server.id)) is not None:
            with suppress(Unavailable):  # sealed with another key: it is registered anew
                known = self._vault.open(sealed, OAuthClient, purpose)
        if known is not None:
            is_current = known.expires_at is None or known.expires_at > time.time()
            if is_current and is_client_of(known, metadata, redirect_uri):
                return known
        client = await register(http, metadata, redirect_uri, scope)
        await self._store.set_client(server.id, self._vault.seal(client, purpose))
        return client

    async def _read_tokens(self, server_id: str, user_id: str) -> Tokens | None:
        sealed = await self._store.token(server_id, user_id)
        if sealed is None:
            return None
        try:
            return self._vault.open(sealed, Tokens, _purpose(server_id, user_id))
        except Unavailable:
            return None  # a new sign-in replaces it


class OAuthIdentity(msgspec.Struct, frozen=True):
    """What hitsend shows to a token endpoint."""

    client_id: str
    client_secret: str
    method: str

    def sign(self, fields: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Returns the headers and the form of a request."""
        headers, form = {"Accept": "application/json"}, dict(fields)
        if self.method == "client_secret_basic":
            pair = f"{quote(self.client_id, safe='')}:{quote(self.client_secret, safe='')}"
            encoded = base64.b64encode(pair.encode()).decode()
            return headers | {"Authorization": f"Basic {encoded}"}, form
        form["client_id"] = self.client_id
        if self.method == "client_secret_post":
            form["client_secret"] = self.client_secret
        return headers, form


class _PersonalAuthorization(Authorization):
    def __init__(self, sign_ins: SignIns, server: McpServer, user_id: str) -> None:
        super().__init__()
        self._sign_ins = sign_ins
        self._server = server
        self._user_id = user_id

    async def headers(self) -> Mapping[str, str]:
        token = await self._sign_ins.fresh_token(self._server, self._user_id)
        return {"Authorization": f"Bearer {token}"} if token else {}

    async def renew(self, used: Mapping[str, str], challenge: str) -> bool:
        refused = used.get("Authorization", "").removeprefix("Bearer ")
        if refused:
            try:
                if await self._sign_ins.fresh_token(self._server, self._user_id, refused):
                    return True
            except HitsendError:
                return False  # the sign-in may be good: its server does not answer now
        self.note_challenge(challenge)
        return False

    def note_challenge(self, challenge: str) -> None:
        self._sign_ins.note_challenge(self._server.id, self._user_id, challenge)


async def _ask_for_challenge(http: "OAuthHttp", url: str) -> str:
    """A server says where to sign in when it refuses a request without a token."""
    probe = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    try:
        response = await http.send("POST", url, headers=accept, json=probe)
    except Unavailable:
        return ""
    return response.headers.get("www-authenticate", "") if response.status_code == 401 else ""


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _expires_at(reply: TokenReply) -> float | None:
    return None if reply.expires_in is None else time.time() + reply.expires_in


def _purpose(server_id: str, user_id: str) -> str:
    return f"token:{server_id}:{user_id}"


def _unite(*scopes: str) -> str:
    """A wider sign-in keeps what an earlier one allowed."""
    return " ".join(dict.fromkeys(one for scope in scopes for one in scope.split()))
