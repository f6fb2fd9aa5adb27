"""What people attach to messages.

Texts of tool servers are parts of a message: the model sees them before its text, marked as data.
Text files are in its text, as fenced blocks under their names (`web/src/chat/textFile.ts`), so that
is where programs find them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from hitsend.messages import Attachment, Message, Text
from hitsend.prompts.untrusted_text import UNTRUSTED, wrap_untrusted
from hitsend.store import MessageRow, Store

FILE = re.compile(
    r"^(?P<name>[^\s/\\`][^/\\`\n]{0,199}\.\w{1,12})\n(?P<fence>`{3,})[^`\n]*\n"
    r"(?P<text>(?:.*\n)*?)(?P=fence)[ \t]*$",
    re.MULTILINE,
)
MAX_CHARS = 2_000_000
"""Of all files together. The newest come first."""


def show_attachments(message: Message) -> Message:
    attached = [_show(part) for part in message.parts if isinstance(part, Attachment)]
    others = [part for part in message.parts if not isinstance(part, Attachment)]
    return Message(message.role, (*attached, *others), message.source) if attached else message


def _show(attached: Attachment) -> Text:
    named = f"{attached.title} ({attached.server}, {attached.uri})\n{attached.text}"
    return Text(f"{UNTRUSTED}\n{wrap_untrusted('attachment', named)}\n\n", source="file")


async def read_attached_files(
    store: Store, user_id: str, conversation_id: str, leaf_id: str | None, text: str = ""
) -> Mapping[str, str]:
    """Returns those of the conversation up to a message, and of a text that follows it, by name.
    Of files with one name the newest counts."""
    rows: tuple[MessageRow, ...] = ()
    if leaf_id is not None:
        rows = await store.conversations.path(conversation_id, user_id, leaf_id)
    return find_files([*_texts(rows), text])


def find_files(texts: Iterable[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    num_chars_left = MAX_CHARS
    for text in reversed(list(texts)):
        for block in reversed(list(FILE.finditer(text))):
            name, content = block["name"], block["text"]
            if name not in found and len(content) <= num_chars_left:
                found[name] = content
                num_chars_left -= len(content)
    return found


def _texts(rows: Iterable[MessageRow]) -> Iterator[str]:
    for row in rows:
        if row.role == "user":
            yield from (part.text for part in row.parts if isinstance(part, Text))
