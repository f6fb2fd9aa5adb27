"""Whether a model's prompts are written in the tokens its own server would write them in.

Our way takes a prompt apart and tokenises text and structure on their own. On plain
conversations, in which nothing passes for structure, that has to come to the same as the whole,
rendered and tokenised at once. What to do where it does not is not decided here.
"""

import logging
from collections.abc import Sequence

from hitsend.engine.encoding import Templated, encode
from hitsend.engine.openai_request import messages_json
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


def _talk(*said: tuple[Role, str]) -> tuple[Message, ...]:
    return tuple(Message(role, (Text(text),)) for role, text in said)


CONVERSATIONS: tuple[tuple[Message, ...], ...] = (
    _talk(("user", QUESTION)),
    _talk(("system", "Be brief, and kind."), ("user", FOREIGN)),
    _talk(("user", QUESTION), ("assistant", ANSWER), ("user", CODE)),
    _talk(
        ("system", "You are helpful.\nAnswer in the person's language."),
        ("user", FOREIGN),
        ("assistant", ANSWER),
        ("user", CODE),
        ("assistant", FOREIGN),
        ("user", QUESTION),
    ),
)


async def is_exact(name: str, model: Templated) -> bool | None:
    """None where it could not be told, because the server is not there or takes none of them."""
    try:
        told = [await _is_same(model, talk) for talk in CONVERSATIONS]
    except Unavailable:
        return None
    if False in told:
        talk = told.index(False) + 1
        log.error("the prompts of %s differ from its server's own (conversation %d)", name, talk)
        return False
    return True if True in told else None


async def _is_same(model: Templated, talk: Sequence[Message]) -> bool | None:
    """None where the model's template refuses such a conversation: some take no system."""
    try:
        rendered = await model.render(messages_json(talk), ())
        whole = await model.ids_of_structure(rendered, is_first=True)
        return (await encode(model, talk)).ids == whole
    except Refused:
        return None
