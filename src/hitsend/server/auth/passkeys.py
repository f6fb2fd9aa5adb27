"""Passkeys (WebAuthn) as a second factor: what a browser is asked, and whether its reply is right.

Stores nothing. The functions that use `webauthn` import it at the first use, which takes a tenth of
a second, and compute: call them in a thread.

A passkey belongs to the host name it was made for, so each one works under that name only. The
password was given before, so the authenticator is not asked to verify its user again (by PIN or
fingerprint), only that somebody is there.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, TypeAlias

from starlette.requests import Request

from hitsend.errors import Refused
from hitsend.server.auth.identify import DEFAULT_PORTS
from hitsend.store import NewPasskey, Passkey, User

Options: TypeAlias = dict[str, Any]
"""JSON that the page gives to the browser, as it is."""
Credential: TypeAlias = dict[str, Any]
"""JSON that the browser returns, as it is."""

MAX_BODY_BYTES = 16_384
TIMEOUT_MS = 300_000
MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError)
"""Raised by `webauthn`, besides its own exceptions, on a reply that no browser makes."""


def passkey_host(request: Request) -> str | None:
    """Returns the host name that passkeys are made for (the RP ID), or None where the page was
    opened by an IP address: browsers make none for that."""
    host = (request.url.hostname or "").lower().rstrip(".")
    try:
        ip_address(host)
    except ValueError:
        return host or None
    return None


def _allowed_origins(request: Request, host: str) -> list[str]:
    """Browsers have passkeys only with HTTPS or on this machine. So the scheme is known, whatever a
    proxy in between says of it."""
    address = request.headers.get("host", "").lower()
    origins = ["https://" + address.removesuffix(DEFAULT_PORTS["https"])]
    if host == "localhost" or host.endswith(".localhost"):
        origins.append("http://" + address.removesuffix(DEFAULT_PORTS["http"]))
    return origins


def registration_options(
    user: User, host: str, challenge: bytes, known: Sequence[Passkey]
) -> Options:
    import webauthn
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = webauthn.generate_registration_options(
        rp_id=host,
        rp_name="hitsend",
        user_id=user.id.encode(),
        user_name=user.name,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.PREFERRED,
            user_verification=UserVerificationRequirement.DISCOURAGED,
        ),
        exclude_credentials=_descriptors(known, host),
    )
    return options_to_json_dict(options)


def authentication_options(host: str, challenge: bytes, known: Sequence[Passkey]) -> Options:
    import webauthn
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import UserVerificationRequirement

    options = webauthn.generate_authentication_options(
        rp_id=host,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        allow_credentials=_descriptors(known, host),
        user_verification=UserVerificationRequirement.DISCOURAGED,
    )
    return options_to_json_dict(options)


def verify_registration(
    request: Request, host: str, challenge: bytes, credential: Credential
) -> NewPasskey:
    """Raises Refused."""
    import webauthn
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        verified = webauthn.verify_registration_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=host,
            expected_origin=_allowed_origins(request, host),
        )
    except (WebAuthnException, InvalidSignature, UnsupportedAlgorithm, *MALFORMED):
        raise Refused("This passkey could not be verified. Try again.", param="passkey") from None
    return NewPasskey(
        credential_id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
        host=host,
    )


def verify_assertion(
    request: Request, challenge: bytes, credential: Credential, known: Sequence[Passkey]
) -> tuple[Passkey, int] | None:
    """Returns the passkey that signed the challenge, and its new signature counter. None also for a
    counter that has not grown: then there is a copy of the passkey."""
    import webauthn
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.exceptions import WebAuthnException

    by_id = {bytes_to_base64url(passkey.credential_id): passkey for passkey in known}
    passkey, host = by_id.get(str(credential.get("id"))), passkey_host(request)
    if passkey is None or host is None or passkey.host != host:
        return None
    try:
        verified = webauthn.verify_authentication_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=host,
            expected_origin=_allowed_origins(request, host),
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
        )
    except (WebAuthnException, InvalidSignature, UnsupportedAlgorithm, *MALFORMED):
        return None
    return passkey, verified.new_sign_count


def _descriptors(known: Sequence[Passkey], host: str) -> list[Any]:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

    return [
        PublicKeyCredentialDescriptor(id=passkey.credential_id)
        for passkey in known
        if passkey.host == host
    ]
