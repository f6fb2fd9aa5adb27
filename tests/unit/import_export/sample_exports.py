"""Small, realistic exports of other programs, and helpers to read them."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hitsend.import_export.imported_conversation import ImportedConversation, Report
from hitsend.import_export.read import ImportReader

Json = dict[str, Any]

NOW = 1_750_000_000.0


def node(node_id: str, parent: str | None, role: str, text: str | Json = "", **more: Any) -> Json:
    """A node of ChatGPT's tree. `text` may be a whole content instead of plain text."""
    content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
    message = {"id": node_id, "author": {"role": role}, "content": content, "weight": 1.0}
    message |= {"create_time": NOW, "recipient": "all", "metadata": {}} | more
    return {"id": node_id, "parent": parent, "children": [], "message": message}


def conversation(*nodes: Json, **more: Any) -> Json:
    tree = {one["id"]: one for one in nodes}
    for one in nodes:
        if one["parent"] in tree:
            tree[one["parent"]]["children"].append(one["id"])
    whole = {"title": "Rome", "create_time": NOW, "update_time": NOW + 9, "mapping": tree}
    return whole | {"current_node": nodes[-1]["id"], "conversation_id": "c1"} | more


def chat(*messages: Json, **more: Any) -> Json:
    """A chat of Open WebUI."""
    history = {
        "messages": {message["id"]: message for message in messages},
        "currentId": messages[-1]["id"],
    }
    inner = {"title": "Rome", "models": ["llama3:8b"], "history": history}
    return {"id": "w1", "title": "Rome", "chat": inner, "created_at": 1_750_000_000} | more


def webui_message(
    message_id: str, parent: str | None, role: str, content: Any, **more: Any
) -> Json:
    message: Json = {"id": message_id, "parentId": parent, "childrenIds": [], "role": role}
    return message | {"content": content, "timestamp": 1_750_000_001} | more


def read_export(
    file: bytes | list[Json] | Json, *, leaves_out_broken: bool = False, most_bytes: int = 1 << 28
) -> tuple[list[ImportedConversation], Report]:
    whole = file if isinstance(file, bytes) else json.dumps(file).encode()
    reading = ImportReader(leaves_out_broken=leaves_out_broken, now=NOW, most_bytes=most_bytes)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as opened:
        opened.write(whole)
        opened.flush()
        imported = list(reading.conversations(opened, Path(folder)))
    return imported, reading.report


def read_one(file: list[Json] | Json) -> tuple[ImportedConversation, Report]:
    (imported,), report = read_export(file)
    return imported, report


def list_messages(imported: ImportedConversation) -> list[tuple[str | None, str, str]]:
    """Returns the parent's text, the role and the text of each message."""
    texts = {message.id: message.text for message in imported.messages}
    return [
        (texts[message.parent_id] if message.parent_id else None, message.role, message.text)
        for message in imported.messages
    ]
