"""A conversation with all its branches, in the shape of ChatGPT's web API."""

from collections import defaultdict

from hitsend.store import Conversation, MessageRow
from hitsend.wire.message import Origin, WireMessage, build_message
from hitsend.wire.responses import ConversationDetail, ConversationNode, Running


def conversation_tree(conversation: Conversation) -> ConversationDetail:
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for stored in conversation.messages:
        children[stored.parent_id].append(stored.message_id)
    running = conversation.running
    return ConversationDetail(
        conversation_id=conversation.id,
        title=conversation.title,
        create_time=conversation.created_at,
        update_time=conversation.updated_at,
        current_node=conversation.current_node,
        is_archived=conversation.is_archived,
        is_pinned=conversation.is_pinned,
        folder_id=conversation.folder_id,
        is_temporary=conversation.is_temporary,
        mapping={
            stored.message_id: ConversationNode(
                id=stored.message_id,
                parent=stored.parent_id,
                children=tuple(children[stored.message_id]),
                message=_message(stored),
            )
            for stored in conversation.messages
        },
        running=Running(running.turn_id, running.answer_id) if running else None,
    )


def _message(stored: MessageRow) -> WireMessage:
    turn_id = None if stored.is_imported else stored.turn_id
    return build_message(
        stored, Origin(turn_id, stored.model or "", stored.created_at, stored.feedback)
    )
