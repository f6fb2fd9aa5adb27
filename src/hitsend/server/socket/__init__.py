"""The WebSocket: one line for all the conversations a person has open.

`socket.py` is the line, `topic.py` one turn followed on it, `sockets.py` all lines there are.
"""
