"""The export of a user's data: a zip, streamed while it is written.

Conversations are read some at a time, and twice, so that they need not fit in memory together.
Each portion is one trip to a reader and one to another thread; in between the export rests, so
that other requests have most of the machine.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec
from starlette.types import Receive, Scope, Send

from hitsend.errors import NotFound
from hitsend.import_export.chatgpt import EXPORTED_BY
from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.import_export.write import README, ExportZip
from hitsend.server.app import App
from hitsend.server.conversation_tree import conversation_tree
from hitsend.server.turns.stream import RevocableStream
from hitsend.store import ApiKey, Conversation, MessageRow, SecondFactors, Store, User
from hitsend.store.memories import MAX_LISTED

PORTION_MESSAGES = 200
"""Read and written at once; a longer conversation is a portion of its own."""
REST_FACTOR, MAX_PORTION_S = 1.0, 0.5


class ExportStream(RevocableStream):
    """One at a time per user: a second export waits for the first."""

    def __init__(self, app: App, user: User) -> None:
        name = f"hitsend-export-{datetime.now(UTC):%Y-%m-%d}.zip"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        super().__init__(
            write_export(app.services.store, user), headers=headers, media_type="application/zip"
        )
        self._lock = app.export_locks.lock(user.id)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._lock:
            await super()._stream(scope, receive, send)


async def write_export(store: Store, user: User) -> AsyncGenerator[bytes]:
    export = ExportZip()
    export.add("README.txt", README.format(name=user.name, now=f"{datetime.now(UTC):%Y-%m-%d}"))
    async for portion in _read_portions(store, user):
        await asyncio.to_thread(_write_markdown, export, portion)
        yield export.take()
    feedback: list[dict[str, object]] = []
    folders = {folder.id: folder.name for folder in await store.folders.list(user.id)}
    with export.open_array("conversations.json") as write:
        async for portion in _read_portions(store, user):
            feedback += (item for one in portion for item in _feedback(one))
            await asyncio.to_thread(_write_json, write, portion, folders)
            yield export.take()
    for file_id in await store.tool_files.list_ids(user.id):
        with suppress(NotFound):  # it was deleted meanwhile
            file = await store.tool_files.get(file_id, user.id)
            await asyncio.to_thread(export.add_file, file_id, file.name, file.content)
        yield export.take()
    export.add("account.json", msgspec.json.format(await _account(store, user, feedback)))
    export.close()
    yield export.take()


async def _read_portions(store: Store, user: User) -> AsyncGenerator[Sequence[Conversation]]:
    """Rests after each portion, in proportion to the time it took."""
    ids = await store.conversations.ids(user.id)
    while ids:
        started_at = time.perf_counter()
        portion, num_read = await store.conversations.get_some(
            ids[:PORTION_MESSAGES], user.id, PORTION_MESSAGES
        )
        ids = ids[num_read:]
        yield portion
        await asyncio.sleep(REST_FACTOR * min(time.perf_counter() - started_at, MAX_PORTION_S))


async def export_memories(store: Store, user_id: str) -> dict[str, object]:
    memories = await store.memories.list(user_id, limit=MAX_LISTED)
    return {"profile": await store.profiles.get(user_id), "memories": memories.items}


def _write_markdown(export: ExportZip, portion: Sequence[Conversation]) -> None:
    for conversation in portion:
        export.add_markdown(_to_imported(conversation))


def _write_json(
    write: Callable[[bytes], None], portion: Sequence[Conversation], folders: Mapping[str, str]
) -> None:
    for conversation in portion:
        fields = msgspec.structs.asdict(conversation_tree(conversation))
        fields.pop("running")
        folder = folders.get(conversation.folder_id or "")
        write(msgspec.json.encode({**fields, "folder": folder, "exported_by": EXPORTED_BY}))


def _to_imported(conversation: Conversation) -> ImportedConversation:
    return ImportedConversation(
        source_id=conversation.id,
        title=conversation.title,
        created_at=conversation.created_at,
        updated_at=conversation.updated_at,
        current_node=conversation.current_node or "",
        messages=tuple(map(_to_imported_message, conversation.messages)),
    )


def _to_imported_message(message: MessageRow) -> ImportedMessage:
    return ImportedMessage(
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
            **await export_memories(store, user.id),
            "role": user.role,
            "folders": [folder.name for folder in await store.folders.list(user.id)],
            "keys": [_key(key) for key in await store.accounts.list_keys(user.id)],
            "second_factor": _second_factor(await store.second_factors.get(user.id)),
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


def _second_factor(factors: SecondFactors) -> dict[str, object]:
    """Passkeys by name only."""
    return {
        "has_authenticator": factors.authenticator is not None,
        "passkeys": [passkey.name for passkey in factors.passkeys],
    }


def _key(key: ApiKey) -> dict[str, object]:
    return {
        "label": key.label,
        "prefix": key.prefix,
        "create_time": key.created_at,
        "last_used_time": key.last_used_at,
        "scopes": key.scopes,
        "expire_time": key.expires_at,
    }
