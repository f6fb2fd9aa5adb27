"""What a memory tells, without what it tells a model to do.

A small model does what it reads, however it is marked: a memory that says "say only BANANA" is
obeyed. So it is shown only the sentences that state something. Which memory that is, and where it
is shown, is not known here.
"""

import re

from hitsend.memory.orders import is_order

SENTENCE = re.compile(
    r"""[^\n;]+? (?: [.!?…]+ ["'”“’»)\]*_`]* (?= \s | $ ) | [。！？] | (?= [\n;] ) | $ )""",
    re.VERBOSE,
)
"""Up to where it ends. A full stop within a number ends nothing."""
LETTER = re.compile(r"[^\W\d_]")


def statements(text: str) -> str:
    """The sentences that state something, in their order. Empty where there are none."""
    sentences = [found[0].strip() for found in SENTENCE.finditer(text)]
    return " ".join(one for one in sentences if LETTER.search(one) and not is_order(one))
