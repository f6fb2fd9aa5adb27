"""hitsend as an MCP server: what a host such as an editor or an assistant may do with an API key.

`tools.py` has the tools, `exchange.py` answers one request over HTTP, and `sdk.py` is the part that
the official SDK does. The SDK takes a second to import, so it is loaded with the first request.
"""
