"""Pure encoders and decoders: every view of the turn log, and every request body.

Nothing here does I/O, reads a clock or knows a web framework: values in, bytes out.
"""
