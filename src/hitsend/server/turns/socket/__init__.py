"""The WebSocket: one connection for all the conversations a page has open.

`socket.py` is one connection, `subscription.py` one turn followed on it, `sockets.py` all of them.
"""
