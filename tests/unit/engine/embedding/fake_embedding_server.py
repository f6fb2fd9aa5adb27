"""A fake llama-server for embeddings: a program that tests run instead of the real one.

A text that contains one of the marks below makes its request fail. Each embeddings request is
written to a file beside the weights, one line each; each start, with its niceness, to another.
"""

import base64
import json
import os
import socketserver
import struct
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

NUM_DIMENSIONS = 384
REFUSED, SHORT, LEFT_OUT, GARBLED = "!", "?", "#", "~"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests_file = Path()

    def do_GET(self) -> None:
        self.answer(200, {"status": "ok"})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/tokenize":
            self.answer(200, {"tokens": [ord(letter) for letter in request["content"]]})
            return
        texts = ["".join(map(chr, tokens)) for tokens in request["input"]]
        with self.requests_file.open("a") as file:
            file.write(json.dumps(texts) + "\n")
        if any(REFUSED in text for text in texts):
            self.answer(400, {"error": {"message": "no"}})
            return
        data = [vector(at, text) for at, text in enumerate(texts) if LEFT_OUT not in text]
        self.answer(200, {"data": data})

    def answer(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "a socket"

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing."""


def vector(at: int, text: str) -> dict[str, object]:
    num_dimensions = NUM_DIMENSIONS - text.count(SHORT)
    raw = struct.pack(f"<{num_dimensions}f", 1.0, *[0.0] * (num_dimensions - 1))
    embedding = "~" if GARBLED in text else base64.b64encode(raw).decode()
    return {"index": at, "embedding": embedding}


if __name__ == "__main__":
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    Handler.requests_file = Path(options["--model"]).with_suffix(".requests")
    with Path(options["--model"]).with_suffix(".starts").open("a") as file:
        file.write(f"{os.nice(0)}\n")
    server = socketserver.ThreadingUnixStreamServer(options["--host"], Handler)
    server.daemon_threads = True
    server.serve_forever()
