"""Pure encoders and decoders for turn streams, request bodies and WebSocket frames.

Values in, bytes out: no I/O, no clock, no web framework.
"""
