"""The MCP server, for hosts with an API key. See docs/mcp_server.md."""

from hitsend.server.mcp.endpoint import build_endpoint
from hitsend.server.mcp.tools import TOOLS

serve_mcp = build_endpoint(TOOLS)
