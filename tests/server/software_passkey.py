"""An authenticator in software: makes P-256 passkeys and signs with them, as a browser returns it.

It follows WebAuthn level 3 as far as the server sees it, with `none` attestation.
"""

import base64
import hashlib
import json
import os
import struct
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL = 0x01, 0x04, 0x40


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass
class SoftwarePasskey:
    """One passkey. Fields that a test changes make it dishonest or broken."""

    origin: str
    host: str
    sign_count: int = 0
    flags: int = USER_PRESENT
    counts: bool = True
    """Whether its counter grows with each use."""
    credential_id: bytes = field(default_factory=lambda: os.urandom(32))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """Answers `navigator.credentials.create`."""
        attested = bytes(16) + struct.pack(">H", len(self.credential_id)) + self.credential_id
        data = self._authenticator_data(self.flags | HAS_CREDENTIAL) + attested + self._cose_key()
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client_data = self._client_data("webauthn.create", options["challenge"])
        return self._credential(
            {"clientDataJSON": encode(client_data), "attestationObject": encode(attestation)}
        )

    def get(self, options: dict[str, Any]) -> dict[str, Any]:
        """Answers `navigator.credentials.get`."""
        self.sign_count += self.counts
        data = self._authenticator_data(self.flags)
        client_data = self._client_data("webauthn.get", options["challenge"])
        signed = data + hashlib.sha256(client_data).digest()
        return self._credential(
            {
                "clientDataJSON": encode(client_data),
                "authenticatorData": encode(data),
                "signature": encode(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
                "userHandle": None,
            }
        )

    def _credential(self, response: dict[str, Any]) -> dict[str, Any]:
        name = encode(self.credential_id)
        return {
            "id": name,
            "rawId": name,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }

    def _authenticator_data(self, flags: int) -> bytes:
        host_hash = hashlib.sha256(self.host.encode()).digest()
        return host_hash + struct.pack(">BI", flags, self.sign_count)

    def _client_data(self, kind: str, challenge: str) -> bytes:
        data = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(data).encode()

    def _cose_key(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
