"""An answer that has to wait says so, and what it waited for is told alike live and later."""

from contextlib import aclosing

from tests.server.world import World

from hitsend.client import Client, Delayed, Finished, Started, Update


async def test_an_answer_that_waits_says_what_for(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script load=10ms queue=2 wait=10ms\nHere I am.")
    delays = [event for event in heard.typed if event["type"] == "answer_delayed"]
    assert delays == [
        {"type": "answer_delayed", "reason": "loading", "num_ahead": 0},
        {"type": "answer_delayed", "reason": "queue", "num_ahead": 2},
        {"type": "answer_delayed", "reason": "queue", "num_ahead": 1},
        {"type": "answer_delayed", "reason": "queue", "num_ahead": 0},
    ]
    assert heard.text == "Here I am."
    log = (await ada.http.get(f"/backend-api/turn/{heard.turn_id}")).json()["events"]
    kinds = [entry["event"]["type"] for entry in log]
    assert kinds.index("AnswerStarted") < kinds.index("AnswerDelayed") < kinds.index("PromptRead")


async def test_an_answer_that_need_not_wait_says_nothing_of_it(world: World) -> None:
    ada = await world.someone("ada")
    heard = await ada.send("!script\nAt once.")
    assert b"answer_delayed" not in heard.raw


async def test_a_delayed_answer_can_be_stopped_while_it_waits(world: World) -> None:
    ada = await world.someone("ada")
    heard: list[Update] = []
    async with (
        Client(world.url, ada.key) as client,
        aclosing(client.send("!script queue=5 wait=60s\nnever")) as updates,
    ):
        async for update in updates:
            heard.append(update)
            if isinstance(update, Delayed):
                (started,) = [one for one in heard if isinstance(one, Started)]
                await client.stop(started.conversation_id)
    assert Delayed("queue", 5) in heard
    assert isinstance(heard[-1], Finished)
    assert (heard[-1].status, heard[-1].text) == ("finished_partial_completion", "")


async def test_the_time_to_the_first_word_is_the_same_live_and_after_a_reload(
    world: World,
) -> None:
    ada = await world.someone("ada")
    for script in ("!script first=30ms\nHello.", "!script first=30ms die=2\nHello there, you."):
        heard = await ada.send(script)
        assert heard.answer
        first_word_ms = heard.answer["metadata"]["usage"]["first_word_ms"]
        assert first_word_ms >= 30
        assert heard.of_type("server_ste_metadata")["metadata"]["ttft_ms"] == first_word_ms
        stored = await ada.conversation(heard.conversation_id)
        assert stored["mapping"][heard.answer["id"]]["message"] == heard.answer
