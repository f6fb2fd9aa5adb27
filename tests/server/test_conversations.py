"""A stored conversation as the page gets it."""

import sqlite3

from tests.server.world import World

from hitsend.settings import Settings


async def test_imported_messages_have_no_turn(world: World, settings: Settings) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nsaid elsewhere")
    with sqlite3.connect(settings.database) as connection:
        connection.execute("UPDATE turns SET surface = 'import'")
    connection.close()
    tree = await ada.conversation(stream.conversation_id)
    for node in tree["mapping"].values():
        assert "turn_exchange_id" not in node["message"]["metadata"]


async def test_a_conversation_has_its_folder_and_flags(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nhello")
    tree = await ada.conversation(stream.conversation_id)
    flags = {name: tree[name] for name in ("is_archived", "is_pinned", "folder_id")}
    assert flags == {"is_archived": False, "is_pinned": False, "folder_id": None}
    answer = tree["mapping"][tree["current_node"]]["message"]
    assert answer["metadata"]["turn_exchange_id"] == stream.turn_id
    assert "feedback" not in answer["metadata"]
