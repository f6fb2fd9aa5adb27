"""What people attach to messages, as the model sees it: before the text, marked as data."""

from hitsend.messages import Attachment, Message, Text
from hitsend.prompts.untrusted_text import UNTRUSTED, wrap_untrusted


def show_attachments(message: Message) -> Message:
    attached = [_show(part) for part in message.parts if isinstance(part, Attachment)]
    others = [part for part in message.parts if not isinstance(part, Attachment)]
    return Message(message.role, (*attached, *others), message.source) if attached else message


def _show(attached: Attachment) -> Text:
    named = f"{attached.title} ({attached.server}, {attached.uri})\n{attached.text}"
    return Text(f"{UNTRUSTED}\n{wrap_untrusted('attachment', named)}\n\n", source="file")
