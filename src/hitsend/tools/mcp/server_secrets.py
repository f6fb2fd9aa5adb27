"""What somebody entered for a server: sealed in the store, and shown to nobody again."""

import msgspec

from hitsend.errors import Unavailable
from hitsend.store.mcp_rows import McpServer
from hitsend.tools.mcp.vault import Vault


class ServerSecrets(msgspec.Struct, frozen=True):
    environment: dict[str, str] = {}
    headers: dict[str, str] = {}
    client_id: str = ""
    """Of hitsend at the server's sign-in, if it was registered there by hand."""
    client_secret: str = ""


class SealedSecrets:
    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def seal(self, server_id: str, entered: ServerSecrets) -> bytes | None:
        if entered == ServerSecrets():
            return None
        return self._vault.seal(entered, f"server:{server_id}")

    def read(self, server: McpServer) -> ServerSecrets:
        """Raises Unavailable."""
        if server.sealed is None:
            return ServerSecrets()
        return self._vault.open(server.sealed, ServerSecrets, f"server:{server.id}")

    def read_known(self, server: McpServer) -> ServerSecrets:
        """Returns none where they cannot be decrypted any more: they have to be entered again."""
        try:
            return self.read(server)
        except Unavailable:
            return ServerSecrets()
