"""Checks that our prompts have the token ids that the model's own server would produce.

`encoding` tokenizes text and structure separately. For plain conversations, without anything that
looks like a special token, the result must equal the whole prompt rendered and tokenized at once.
"""

import logging
from collections.abc import Sequence

from hitsend.engine.encoding import ChatTemplate, encode
from hitsend.engine.message_json import messages_json
from hitsend.errors import Refused, Unavailable
from hitsend.messages import Message, Role, Text

log = logging.getLogger(__name__)

DIFFER = "are not the tokens its server would make of them: answers may be worse"

QUESTION = "What is 17 + 25, and why does bread rise?"
ANSWER = "42. Yeast makes gas:\n\n1. it eats *sugar*,\n2. it breathes out CO₂."
CODE = (
    "Why does it fail?\n\n```cpp\nint f(int x) {\n\treturn x << 2 && (y[0] >= 1); // ≠ x\n}\n```\n"
)
FOREIGN = "Grüße 👩‍👩‍👧 🇩🇪! नमस्ते, مرحبا، 你好。 https://example.org/a?b=c&d=%20"


def _conversation(*messages: tuple[Role, str]) -> tuple[Message, ...]:
    return tuple(Message(role, (Text(text),)) for role, text in messages)


CONVERSATIONS: tuple[tuple[Message, ...], ...] = (
    _conversation(("user", QUESTION)),
    _conversation(("system", "Be brief, and kind."), ("user", FOREIGN)),
    _conversation(("user", QUESTION), ("assistant", ANSWER), ("user", CODE)),
    _conversation(
        ("system", "You are helpful.\nAnswer in the person's language."),
        ("user", FOREIGN),
        ("assistant", ANSWER),
        ("user", CODE),
        ("assistant", FOREIGN),
        ("user", QUESTION),
    ),
)


async def check_parity(name: str, template: ChatTemplate) -> bool | None:
    """Returns None if the server is down or its template refuses all of the conversations."""
    try:
        results = [await _is_equal(template, one) for one in CONVERSATIONS]
    except Unavailable:
        return None
    if False in results:
        number = results.index(False) + 1
        log.error("the prompts of %s differ from its server's own (conversation %d)", name, number)
        return False
    return True if True in results else None


async def _is_equal(template: ChatTemplate, conversation: Sequence[Message]) -> bool | None:
    """Returns None if the template refuses the conversation: some take no system message."""
    try:
        rendered = await template.render(messages_json(conversation), ())
        whole = await template.tokenize_structure(rendered, is_first=True)
        return (await encode(template, conversation)).ids == whole
    except Refused:
        return None
