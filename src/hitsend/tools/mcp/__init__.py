"""Tools of other servers, over the Model Context Protocol. docs/mcp.md is the page about it.

`McpHost` is what the rest of hitsend uses: the tools of the servers that a person may use, and
what settings show of them. It connects when a tool is called, never before an answer. The official
SDK is imported at the first connection, because importing it takes a second.
"""

from hitsend.tools.mcp.connections import ServerStatus
from hitsend.tools.mcp.host import McpHost, open_host
from hitsend.tools.mcp.oauth import Callback
from hitsend.tools.mcp.server_secrets import ServerSecrets

__all__ = ["Callback", "McpHost", "ServerSecrets", "ServerStatus", "open_host"]
