"""The addresses of servers: which are allowed, and how they are reached."""

from typing import TYPE_CHECKING

import httpx2

from hitsend.egress import Egress, parse_url
from hitsend.errors import Refused
from hitsend.settings import Settings
from hitsend.store.mcp_rows import McpServer

if TYPE_CHECKING:
    from hitsend.tools.mcp.oauth_discovery import OAuthHttp


class Addresses:
    def __init__(self, settings: Settings, egress: Egress) -> None:
        self._allows_http = settings.mcp_allow_http
        self._egress = egress

    def check(self, url: str) -> httpx2.URL:
        """Raises Refused."""
        parsed = parse_url(url)
        if parsed.scheme != "https" and not self._allows_http:
            raise Refused(
                "The address has to begin with https://. An administrator can allow others "
                "(HITSEND_MCP_ALLOW_HTTP).",
                param="url",
            )
        return parsed

    def egress_for(self, server: McpServer) -> Egress:
        """An administrator may name a server of the network around this machine."""
        if server.owner_id is not None:
            return self._egress
        return self._egress.trusting(parse_url(server.url))

    def oauth_http(self, server: McpServer) -> "OAuthHttp":
        from hitsend.tools.mcp.oauth_discovery import OAuthHttp

        return OAuthHttp(self.egress_for(server), allows_http=self._allows_http)
