"""Turns over HTTP and WebSocket: start, stream, resume, prewarm, autocomplete."""
