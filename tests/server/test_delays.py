"""An answer that has to wait reports it, the same way live and after a reload."""

from contextlib import aclosing

from tests.server.world import World

from hitsend.client import Client, Delayed, Finished, Started, Update


async def test_an_answer_that_waits_reports_why(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script load=10ms queue=2 wait=10ms\nHere I am.")
    delays = [event for event in stream.typed if event["type"] == "answer_delayed"]
    assert delays == [
        {"type": "answer_delayed", "reason": "loading", "num_ahead": 0},
        {"type": "answer_delayed", "reason": "queue", "num_ahead": 2},
        {"type": "answer_delayed", "reason": "queue", "num_ahead": 1},
        {"type": "answer_delayed", "reason": "queue", "num_ahead": 0},
    ]
    assert stream.text == "Here I am."
    log = (await ada.http.get(f"/backend-api/turn/{stream.turn_id}")).json()["events"]
    kinds = [entry["event"]["type"] for entry in log]
    assert kinds.index("AnswerStarted") < kinds.index("AnswerDelayed") < kinds.index("PromptRead")


async def test_an_answer_that_does_not_wait_reports_no_delay(world: World) -> None:
    ada = await world.someone("ada")
    stream = await ada.send("!script\nAt once.")
    assert b"answer_delayed" not in stream.raw


async def test_a_delayed_answer_can_be_stopped_while_it_waits(world: World) -> None:
    ada = await world.someone("ada")
    stream: list[Update] = []
    async with (
        Client(world.url, ada.key) as client,
        aclosing(client.send("!script queue=5 wait=60s\nnever")) as updates,
    ):
        async for update in updates:
            stream.append(update)
            if isinstance(update, Delayed):
                (started,) = [one for one in stream if isinstance(one, Started)]
                await client.stop(started.conversation_id)
    assert Delayed("queue", 5) in stream
    assert isinstance(stream[-1], Finished)
    assert (stream[-1].status, stream[-1].text) == ("finished_partial_completion", "")


async def test_the_time_to_the_first_word_is_the_same_live_and_after_a_reload(
    world: World,
) -> None:
    ada = await world.someone("ada")
    for script in ("!script first=30ms\nHello.", "!script first=30ms die=2\nHello there, you."):
        stream = await ada.send(script)
        assert stream.answer
        first_word_ms = stream.answer["metadata"]["usage"]["first_word_ms"]
        assert first_word_ms >= 30
        assert stream.of_type("server_ste_metadata")["metadata"]["ttft_ms"] == first_word_ms
        stored = await ada.conversation(stream.conversation_id)
        assert stored["mapping"][stream.answer["id"]]["message"] == stream.answer
