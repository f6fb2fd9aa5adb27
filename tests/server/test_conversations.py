"""A kept conversation as the page gets it."""

import sqlite3

from tests.server.world import World

from hitsend.settings import Settings


async def test_what_was_imported_names_no_turn_to_look_into(
    world: World, settings: Settings
) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nsaid elsewhere")
    with sqlite3.connect(settings.database) as connection:
        connection.execute("UPDATE turns SET surface = 'import'")
    connection.close()
    tree = await ada.conversation(heard.conversation_id)
    for node in tree["mapping"].values():
        assert "turn_exchange_id" not in node["message"]["metadata"]


async def test_a_conversation_says_how_it_is_kept(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nhello")
    tree = await ada.conversation(heard.conversation_id)
    kept = {name: tree[name] for name in ("is_archived", "is_pinned", "folder_id")}
    assert kept == {"is_archived": False, "is_pinned": False, "folder_id": None}
    answer = tree["mapping"][tree["current_node"]]["message"]
    assert answer["metadata"]["turn_exchange_id"] == heard.turn_id
    assert "feedback" not in answer["metadata"]
