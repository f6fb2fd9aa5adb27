"""Text from elsewhere, made fit for a terminal."""

import re

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What could move the cursor, change colours, set the clipboard or turn the writing around."""


def harmless(text: str) -> str:
    return UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))
