"""A person's conversations and what belongs to them, as a zip that is sent while it is made.

Conversations are read one by one, twice: what is read need not fit in memory.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from starlette.types import Receive, Scope, Send

from hitsend.errors import NotFound
from hitsend.server.calls import House
from hitsend.server.remembering import exported_memories
from hitsend.server.streams import RevocableStream
from hitsend.server.trees import tree
from hitsend.store import ApiKey, Conversation, Store, StoredMessage, User
from hitsend.takeout.chatgpt import OURS
from hitsend.takeout.taken import TakenConversation, TakenMessage
from hitsend.takeout.writing import README, Export


class ExportStream(RevocableStream):
    """One at a time for each person: the next one begins when the one before has ended."""

    def __init__(self, house: House, user: User) -> None:
        name = f"hitsend-export-{datetime.now(UTC):%Y-%m-%d}.zip"
        headers = {
            "cache-control": "no-store",
            "content-disposition": f'attachment; filename="{name}"',
        }
        super().__init__(
            exported(house.services.store, user), headers=headers, media_type="application/zip"
        )
        self._turn = house.exporters.one_of(user.id)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._turn:
            await super()._stream(scope, receive, send)


async def exported(store: Store, user: User) -> AsyncGenerator[bytes]:
    export = Export()
    export.add("README.txt", README.format(name=user.name, now=f"{datetime.now(UTC):%Y-%m-%d}"))
    ids = await store.conversations.ids(user.id)
    async for conversation in _each(store, user, ids):
        await asyncio.to_thread(_add_page, export, conversation)
        yield export.take()
    feedback: list[dict[str, object]] = []
    folders = {folder.id: folder.name for folder in await store.folders.list(user.id)}
    with export.array("conversations.json") as write:
        async for conversation in _each(store, user, ids):
            feedback += _feedback(conversation)
            await asyncio.to_thread(_write, write, conversation, folders)
            yield export.take()
    export.add("account.json", msgspec.json.format(await _account(store, user, feedback)))
    export.close()
    yield export.take()


async def _each(store: Store, user: User, ids: Sequence[str]) -> AsyncGenerator[Conversation]:
    for conversation_id in ids:
        try:
            yield await store.conversations.get(conversation_id, user.id)
        except NotFound:  # deleted meanwhile
            continue


def _write(
    write: Callable[[bytes], None], conversation: Conversation, folders: Mapping[str, str]
) -> None:
    shown = tree(conversation)
    shown.pop("running")
    folder = folders.get(conversation.folder_id or "")
    write(msgspec.json.encode({**shown, "folder": folder, "exported_by": OURS}))


def _add_page(export: Export, conversation: Conversation) -> None:
    export.add_markdown(_page(conversation))


def _page(conversation: Conversation) -> TakenConversation:
    return TakenConversation(
        source_id=conversation.id,
        title=conversation.title,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        current_node=conversation.current_node or "",
        messages=tuple(map(_said, conversation.messages)),
    )


def _said(message: StoredMessage) -> TakenMessage:
    return TakenMessage(
        id=message.message_id,
        parent_id=message.parent_id,
        role="user" if message.role == "user" else "assistant",
        text=message.text,
        created_at=message.created_at,
        model=message.model,
        problem=message.problem,
    )


def _feedback(conversation: Conversation) -> list[dict[str, object]]:
    return [
        {
            "conversation_id": conversation.id,
            "message_id": message.message_id,
            **msgspec.structs.asdict(message.feedback),
        }
        for message in conversation.messages
        if message.feedback
    ]


async def _account(store: Store, user: User, feedback: list[dict[str, object]]) -> bytes:
    return msgspec.json.encode(
        {
            "name": user.name,
            **await exported_memories(store, user.id),
            "role": user.role,
            "folders": [folder.name for folder in await store.folders.list(user.id)],
            "keys": [_key(key) for key in await store.accounts.keys(user.id)],
            "feedback": feedback,
            "shares": [
                {
                    "path": f"/share/{share.id}",
                    "title": share.title,
                    "conversation_id": share.conversation_id,
                    "create_time": share.created_at,
                }
                for share in await store.shares.list(user.id)
            ],
        }
    )


def _key(key: ApiKey) -> dict[str, object]:
    return {
        "label": key.label,
        "prefix": key.prefix,
        "create_time": key.created_at,
        "last_used_time": key.last_used_at,
    }
