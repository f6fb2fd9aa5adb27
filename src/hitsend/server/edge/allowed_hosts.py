"""The `Host` header: under which names and addresses hitsend may be opened.

This prevents DNS rebinding: a page on a foreign name that resolves to this machine could otherwise
call a server that its browser reaches and the page's author does not. Such an attack needs a name,
so an address in `Host` is harmless. It also needs a server without a certificate: with one, the
browser refuses the foreign name itself.
"""

import ipaddress

from starlette.requests import HTTPConnection

from hitsend.errors import NotAllowed
from hitsend.server.auth.identify import MAX_QUOTED_CHARS
from hitsend.settings import Settings, is_loopback, split_list

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class AllowedHosts:
    def __init__(self, settings: Settings) -> None:
        named = frozenset(split_list(settings.allowed_hosts.lower()))
        self._names = named | LOCAL_NAMES | {settings.host.lower()}
        is_open = not named and not is_loopback(settings.host)
        self._allows_all = is_open and settings.tls_cert is not None
        self._allows_addresses = is_open

    def check(self, request: HTTPConnection) -> None:
        """Raises NotAllowed."""
        if self._allows_all:
            return
        name = request.url.hostname or ""
        if name in self._names or (self._allows_addresses and _is_address(name)):
            return
        raise NotAllowed(
            f"hitsend was asked as {name[:MAX_QUOTED_CHARS]}, which is not a name it answers to. "
            "See HITSEND_ALLOWED_HOSTS."
        )


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
