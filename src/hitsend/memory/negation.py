"""Whether a text says that something is, or that it is not, in English and German."""

import re

TURNING = re.compile(
    r"""\b (?: not | cannot | no | never | none | nothing | neither | nor | without | except
      | hardly | used \s to | any \s (?: more | longer ) | nicht | nichts | kein\w* | nie | niemals
      | ohne | außer | weder | kaum ) \b | n['’]t \b""",
    re.IGNORECASE | re.VERBOSE,
)
NOT_FORGOTTEN = re.compile(
    r"""(?: don['’]?t | do \s not | never ) \s (?: ever \s )? forget
      | vergiss \s (?: bitte \s | mal \s )? nicht | nicht \s vergessen""",
    re.IGNORECASE | re.VERBOSE,
)
"""Says nothing of what is to be remembered."""


def num_negations(text: str) -> int:
    return len(TURNING.findall(NOT_FORGOTTEN.sub("", text)))
