"""The command that the conformance suite runs as an MCP client: passes the scenario on to the test,
whose host plays it, and waits for the end. A host in a process of its own would need two seconds to
start, for each of sixty scenarios.

    python client_command.py SOCKET URL
"""

import json
import os
import socket
import sys

PREFIX = "MCP_CONFORMANCE_"

with socket.socket(socket.AF_UNIX) as test:
    test.connect(sys.argv[1])
    scenario = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    test.sendall(json.dumps({"url": sys.argv[2], **scenario}).encode() + b"\n")
    sys.exit(test.makefile().read() or None)
