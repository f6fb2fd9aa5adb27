"""A GGUF file small enough to read."""

import struct


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _entry(key: str, kind: int, value: bytes) -> bytes:
    return _string(key) + struct.pack("<I", kind) + value


def tensor(offset: int = 0, num_weights: int = 8, kind: int = 0) -> bytes:
    return _string("output.weight") + struct.pack("<IQIQ", 1, num_weights, kind, offset)


METADATA = (
    _entry("general.architecture", 8, _string("llama")),
    _entry("general.name", 8, _string("Tiny")),
    _entry("general.file_type", 4, struct.pack("<I", 0)),
    _entry("llama.context_length", 4, struct.pack("<I", 2048)),
    _entry("tokenizer.chat_template", 8, _string("{{ messages }}{{ tools }}")),
    _entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + _string("yes") + _string("no")),
)


def build(
    metadata: tuple[bytes, ...] = METADATA, tensors: tuple[bytes, ...] = (tensor(),)
) -> bytes:
    """One F32 tensor of eight weights, five metadata values and a vocabulary of two."""
    counts = struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head = b"GGUF" + counts + b"".join(metadata) + b"".join(tensors)
    return head.ljust(-(-len(head) // 32) * 32, b"\0") + struct.pack("<8f", *range(8))


def number(key: str, value: int) -> bytes:
    return _entry(key, 4, struct.pack("<I", value))


TINY_GGUF = build()
