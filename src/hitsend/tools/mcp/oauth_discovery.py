"""Finds out where people sign in at a server, and how hitsend is known there.

Follows the authorisation part of the protocol: protected-resource metadata (RFC 9728), metadata of
the issuer (RFC 8414, OpenID Connect), client id metadata documents, and dynamic registration
(RFC 7591) where a server knows no other way.
"""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

import httpx2
import msgspec
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_registration_response,
    issuers_match,
    validate_metadata_issuer,
)
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyUrl, ValidationError

from hitsend.egress import Egress, Limits, describe_failure, parse_url
from hitsend.errors import HitsendError, Refused, Unavailable

LIMITS = Limits(max_bytes=200_000, total_s=15.0, max_redirects=0)
GRANTS = ["authorization_code", "refresh_token"]


class OAuthClient(msgspec.Struct, frozen=True):
    """How hitsend is known at an issuer."""

    client_id: str
    client_secret: str = ""
    method: str = "none"
    """How it proves that to the token endpoint."""
    issuer: str = ""
    redirect_uri: str = ""
    expires_at: float | None = None


class Authority(NamedTuple):
    """Where people sign in at a server."""

    metadata: OAuthMetadata
    resource: str
    scope: str


class OAuthHttp:
    """Requests to authorisation servers, which strangers name."""

    def __init__(self, egress: Egress, *, allows_http: bool) -> None:
        self._egress = egress
        self._allows_http = allows_http

    def check(self, url: str) -> httpx2.URL:
        """Raises Refused."""
        parsed = parse_url(url)
        if parsed.scheme != "https" and not self._allows_http:
            raise Refused(f"{parsed.host} asks to sign in without HTTPS, which is not safe.")
        return parsed

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        json: object = None,
    ) -> httpx2.Response:
        """Raises Refused and Unavailable. No redirect is followed."""
        parsed = self.check(url)
        try:
            async with asyncio.timeout(LIMITS.total_s), self._egress.client(LIMITS) as client:
                return await client.request(
                    method, parsed, headers=dict(headers or {}), data=form, json=json
                )
        except (TimeoutError, httpx2.TimeoutException):
            raise Unavailable(f"{parsed.host} took too long to answer.") from None
        except httpx2.HTTPError as error:
            raise Unavailable(describe_failure(parsed.host, error)) from None


async def find_authority(http: OAuthHttp, server_url: str, challenge: str) -> Authority:
    """`challenge` is the WWW-Authenticate header of the server's 401. Raises Unavailable."""
    refusal = httpx2.Response(401, headers={"www-authenticate": challenge})
    resource = await _find_resource(http, server_url, refusal)
    issuer = str(resource.authorization_servers[0]) if resource else None
    metadata = await _find_metadata(http, issuer, server_url)
    if "S256" not in (metadata.code_challenge_methods_supported or ()):
        raise Unavailable("Its sign-in does not offer PKCE with S256, without which it is unsafe.")
    for endpoint in (metadata.authorization_endpoint, metadata.token_endpoint):
        http.check(str(endpoint))
    scope = get_client_metadata_scopes(
        extract_scope_from_www_auth(refusal), resource, metadata, GRANTS
    )
    named = str(resource.resource) if resource else resource_url_from_server_url(server_url)
    return Authority(metadata, named, scope or "")


async def register(
    http: OAuthHttp, metadata: OAuthMetadata, redirect_uri: str, scope: str
) -> OAuthClient:
    """Registers hitsend dynamically. Raises Unavailable."""
    if metadata.registration_endpoint is None:
        raise Unavailable(
            "Its sign-in knows no programs that it was not told of. Register hitsend there, with "
            f"the redirect address {redirect_uri}, and enter the client id here."
        )
    wished = OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect_uri)],
        client_name="hitsend",
        grant_types=list(GRANTS),
        token_endpoint_auth_method="none",
        application_type="web",
        scope=scope or None,
    )
    body = wished.model_dump(mode="json", by_alias=True, exclude_none=True)
    response = await http.send("POST", str(metadata.registration_endpoint), json=body)
    try:
        registered = await handle_registration_response(response)
    except OAuthRegistrationError:
        raise Unavailable(
            f"Its sign-in did not register hitsend ({response.status_code}). Register it there, "
            f"with the redirect address {redirect_uri}, and enter the client id here."
        ) from None
    method = registered.token_endpoint_auth_method
    if method is None:
        method = "client_secret_post" if registered.client_secret else "none"
    return OAuthClient(
        registered.client_id,
        registered.client_secret or "",
        method,
        str(metadata.issuer),
        redirect_uri,
        registered.client_secret_expires_at or None,
    )


def is_client_of(client: OAuthClient, metadata: OAuthMetadata, redirect_uri: str) -> bool:
    """A client is never shown to another issuer than its own."""
    is_same = issuers_match(client.issuer, str(metadata.issuer))
    return is_same and client.redirect_uri == redirect_uri


async def _find_resource(
    http: OAuthHttp, server_url: str, refusal: httpx2.Response
) -> ProtectedResourceMetadata | None:
    named = extract_resource_metadata_from_www_auth(refusal)
    for url in build_protected_resource_metadata_discovery_urls(named, server_url):
        found = await _read_json(http, url)
        try:
            resource = ProtectedResourceMetadata.model_validate_json(found) if found else None
        except ValidationError:
            continue
        if resource is None:
            continue
        wanted = resource_url_from_server_url(server_url)
        if not check_resource_allowed(wanted, str(resource.resource)):
            raise Unavailable(f"Its sign-in is for another server: {resource.resource}.")
        return resource
    return None


async def _find_metadata(http: OAuthHttp, issuer: str | None, server_url: str) -> OAuthMetadata:
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, server_url):
        found = await _read_json(http, url)
        try:
            metadata = OAuthMetadata.model_validate_json(found) if found else None
        except ValidationError:
            continue
        if metadata is None:
            continue
        if issuer is not None:
            try:
                validate_metadata_issuer(metadata, issuer)
            except OAuthFlowError:
                if not issuers_match(str(metadata.issuer), issuer):
                    raise Unavailable(
                        f"Its sign-in names itself {metadata.issuer} instead of {issuer}."
                    ) from None
        return metadata
    raise Unavailable("It wants a sign-in, but does not say where: it has no OAuth metadata.")


async def _read_json(http: OAuthHttp, url: str) -> bytes | None:
    """Returns None where there is nothing: the next place is tried."""
    try:
        response = await http.send("GET", url, headers={"Accept": "application/json"})
    except HitsendError as error:
        if isinstance(error, Refused):
            raise
        return None
    return response.content if response.status_code == 200 else None
