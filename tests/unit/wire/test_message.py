import msgspec
import pytest

from hitsend.events import Ending
from hitsend.messages import Feedback, Text, ToolCall, ToolResult, Usage
from hitsend.transcript import Said, Status
from hitsend.wire.message import Origin, message

ORIGIN = Origin("turn", "model", 1760000000.5)


def test_an_answer_being_written_has_no_end() -> None:
    said = Said("a", "q", "assistant", (), "in_progress", usage=Usage(num_output_tokens=3))
    assert msgspec.to_builtins(message(said, ORIGIN)) == {
        "id": "a",
        "author": {"role": "assistant", "name": None, "metadata": {}},
        "create_time": 1760000000.5,
        "update_time": None,
        "content": {"content_type": "text", "parts": ("",)},
        "status": "in_progress",
        "end_turn": None,
        "weight": 1.0,
        "metadata": {"parent_id": "q", "turn_exchange_id": "turn", "model_slug": "model"},
        "recipient": "all",
        "channel": "final",
    }


def test_what_a_person_said_names_no_model() -> None:
    said = Said("q", None, "user", (Text("Hi"),), "finished")
    made = message(said, ORIGIN)
    assert made.content.parts == ("Hi",)
    assert (made.channel, made.end_turn) == (None, None)
    assert msgspec.to_builtins(made.metadata) == {"parent_id": None, "turn_exchange_id": "turn"}


def test_where_there_is_no_turn_to_look_into_none_is_named() -> None:
    said = Said("q", None, "user", (Text("Hi"),), "finished")
    made = message(said, Origin(None, "model", 1.0))
    assert msgspec.to_builtins(made.metadata) == {"parent_id": None}


def test_what_a_person_thinks_of_an_answer_is_told_with_it() -> None:
    said = Said("a", "q", "assistant", (Text("x"),), "finished")
    made = message(said, Origin("turn", "model", 1.0, Feedback("down", "wrong", "No.")))
    told = {"rating": "down", "reason": "wrong", "text": "No."}
    assert msgspec.to_builtins(made.metadata)["feedback"] == told


@pytest.mark.parametrize(
    ("status", "ending", "told"),
    [
        ("finished", "stop", ("finished_successfully", True, "stop", True)),
        ("finished", "length", ("finished_successfully", True, "max_tokens", True)),
        ("finished", "tool_calls", ("finished_successfully", None, "tool_calls", True)),
        ("partial", "stopped", ("finished_partial_completion", True, "interrupted", False)),
        ("partial", "interrupted", ("finished_partial_completion", True, "interrupted", False)),
        ("failed", "failed", ("failed", True, "failed", False)),
    ],
)
def test_how_an_answer_ended_is_told(
    status: Status, ending: Ending, told: tuple[str, bool | None, str, bool]
) -> None:
    usage = Usage(num_output_tokens=3)
    made = message(Said("a", "q", "assistant", (Text("x"),), status, ending, usage), ORIGIN)
    facts = msgspec.to_builtins(made.metadata)
    kind, is_complete = facts["finish_details"]["type"], facts["is_complete"]
    assert (made.status, made.end_turn, kind, is_complete) == told
    assert (facts["token_count"], facts["usage"]["num_output_tokens"]) == (3, 3)


def test_words_calls_and_results_are_all_there() -> None:
    call = ToolCall("c", "weather", "{}")
    asking = Said("a", "q", "assistant", (Text("Let me"), call, Text(" look.")), "finished")
    assert message(asking, ORIGIN).content.parts == ("Let me look.",)
    assert message(asking, ORIGIN).metadata.tool_calls == (call,)
    brought = Said("t", "a", "tool", (ToolResult("c", "Rain"),), "finished")
    assert message(brought, ORIGIN).content.parts == ("Rain",)
