"""An authorisation server, and a wall in front of a server that lets its tokens through."""

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

SCOPES = "tools:read"


@dataclass
class Authority:
    """Checks what a strict one checks: PKCE, redirects, resources, clients, codes used once."""

    url: str = ""
    resource: str = ""
    knows_documents: bool = False
    registers: bool = True
    has_iss: bool = True
    lifetime_s: float = 3600.0
    methods: tuple[str, ...] = ("S256",)
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    access: dict[str, float] = field(default_factory=dict)
    refresh: dict[str, str] = field(default_factory=dict)
    """Client ids by refresh token."""
    granted: list[str] = field(default_factory=list)
    """Kinds of the grants that were given."""
    iss: str | None = None
    """What it says of itself in redirects, if it lies."""
    issuer: str | None = None
    required_scope: str = SCOPES
    scopes: dict[str, str] = field(default_factory=dict)
    """What was allowed, by access and refresh token."""

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self._describe),
                Route("/register", self._register, methods=["POST"]),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
            ]
        )

    def revoke_all(self) -> None:
        self.access.clear()
        self.refresh.clear()

    def expire_access(self) -> None:
        self.access.clear()

    async def _describe(self, request: Request) -> Response:
        described = {
            "issuer": self.issuer or self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": list(self.methods),
            "client_id_metadata_document_supported": self.knows_documents,
            "authorization_response_iss_parameter_supported": self.has_iss,
        }
        if self.registers:
            described["registration_endpoint"] = f"{self.url}/register"
        return JSONResponse(described)

    async def _register(self, request: Request) -> Response:
        wished = await request.json()
        client_id = f"client-{len(self.clients)}"
        self.clients[client_id] = wished
        return JSONResponse(wished | {"client_id": client_id}, 201)

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        client = self.clients.get(asked["client_id"])
        if client is None or asked["redirect_uri"] not in client["redirect_uris"]:
            return Response("unknown client or redirect", 400)
        if asked["code_challenge_method"] != "S256" or asked["resource"] != self.resource:
            return Response("bad request", 400)
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        back = f"{asked['redirect_uri']}?code={code}&state={asked['state']}"
        if self.has_iss or self.iss:
            back += f"&iss={self.iss or self.url}"
        return RedirectResponse(back, 302)

    async def _token(self, request: Request) -> Response:
        form = {key: str(value) for key, value in (await request.form()).items()}
        if form.get("resource") != self.resource:
            return _refuse("invalid_target")
        if form["grant_type"] == "refresh_token":
            if self.refresh.pop(form["refresh_token"], None) != form["client_id"]:
                return _refuse("invalid_grant")
            scope = self.scopes[form["refresh_token"]]
            return self._grant(form["client_id"], "refresh_token", scope)
        asked = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked is None
            or asked["code_challenge"] != challenge
            or asked["client_id"] != form["client_id"]
            or asked["redirect_uri"] != form["redirect_uri"]
        ):
            return _refuse("invalid_grant")
        return self._grant(form["client_id"], "authorization_code", asked.get("scope", ""))

    def _grant(self, client_id: str, kind: str, scope: str) -> Response:
        self.granted.append(kind)
        access, refresh = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.access[access] = time.time() + self.lifetime_s
        self.refresh[refresh] = client_id
        self.scopes |= {access: scope, refresh: scope}
        return JSONResponse(
            {
                "access_token": access,
                "token_type": "Bearer",
                "expires_in": self.lifetime_s,
                "refresh_token": refresh,
                "scope": scope,
            }
        )


def _refuse(error: str) -> Response:
    return JSONResponse({"error": error}, 400)


class Wall:
    """Lets requests with a token of the authority through, and says where to get one."""

    def __init__(self, app: ASGIApp, authority: Authority) -> None:
        self._app = app
        self._authority = authority
        self.seen: list[str] = []
        """The Authorization headers of requests."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if request.url.path.startswith("/.well-known/oauth-protected-resource"):
            await JSONResponse(
                {
                    "resource": self._authority.resource,
                    "authorization_servers": [self._authority.url],
                    "scopes_supported": [SCOPES],
                }
            )(scope, receive, send)
            return
        given = request.headers.get("authorization", "")
        self.seen.append(given)
        token = given.removeprefix("Bearer ")
        is_known = self._authority.access.get(token, 0.0) > time.time()
        required = self._authority.required_scope
        if is_known and set(required.split()) <= set(self._authority.scopes[token].split()):
            await self._app(scope, receive, send)
            return
        origin = str(request.base_url).rstrip("/")
        challenge = (
            f'Bearer resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp", '
            f'scope="{required}"'
        )
        if is_known:
            challenge += ', error="insufficient_scope"'
        status = 403 if is_known else 401
        await Response(status_code=status, headers={"www-authenticate": challenge})(
            scope, receive, send
        )
