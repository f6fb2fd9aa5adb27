"""The address of the MCP server."""

MCP_PATH = "/mcp"
