import msgspec
import pytest

from hitsend.events import Ending
from hitsend.messages import Feedback, Text, ToolCall, ToolResult, Usage
from hitsend.transcript import FoldedMessage, Status
from hitsend.wire.message import Origin, build_message

ORIGIN = Origin("turn", "model", 1760000000.5)


def test_an_answer_being_written_has_no_end() -> None:
    message = FoldedMessage(
        "a", "q", "assistant", (), "in_progress", usage=Usage(num_output_tokens=3)
    )
    assert msgspec.to_builtins(build_message(message, ORIGIN)) == {
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


def test_a_user_message_has_no_model() -> None:
    message = FoldedMessage("q", None, "user", (Text("Hi"),), "finished")
    built = build_message(message, ORIGIN)
    assert built.content.parts == ("Hi",)
    assert (built.channel, built.end_turn) == (None, None)
    assert msgspec.to_builtins(built.metadata) == {"parent_id": None, "turn_exchange_id": "turn"}


def test_a_message_without_a_turn_has_no_turn_id() -> None:
    message = FoldedMessage("q", None, "user", (Text("Hi"),), "finished")
    built = build_message(message, Origin(None, "model", 1.0))
    assert msgspec.to_builtins(built.metadata) == {"parent_id": None}


def test_feedback_is_in_the_metadata() -> None:
    message = FoldedMessage("a", "q", "assistant", (Text("x"),), "finished")
    built = build_message(message, Origin("turn", "model", 1.0, Feedback("down", "wrong", "No.")))
    expected = {"rating": "down", "reason": "wrong", "text": "No."}
    assert msgspec.to_builtins(built.metadata)["feedback"] == expected


@pytest.mark.parametrize(
    ("status", "ending", "expected"),
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
    status: Status, ending: Ending, expected: tuple[str, bool | None, str, bool]
) -> None:
    usage = Usage(num_output_tokens=3)
    built = build_message(
        FoldedMessage("a", "q", "assistant", (Text("x"),), status, ending, usage), ORIGIN
    )
    metadata = msgspec.to_builtins(built.metadata)
    kind, is_complete = metadata["finish_details"]["type"], metadata["is_complete"]
    assert (built.status, built.end_turn, kind, is_complete) == expected
    assert (metadata["token_count"], metadata["usage"]["num_output_tokens"]) == (3, 3)


def test_text_tool_calls_and_tool_results_are_all_included() -> None:
    call = ToolCall("c", "weather", "{}")
    asking = FoldedMessage(
        "a", "q", "assistant", (Text("Let me"), call, Text(" look.")), "finished"
    )
    assert build_message(asking, ORIGIN).content.parts == ("Let me look.",)
    assert build_message(asking, ORIGIN).metadata.tool_calls == (call,)
    brought = FoldedMessage("t", "a", "tool", (ToolResult("c", "Rain"),), "finished")
    assert build_message(brought, ORIGIN).content.parts == ("Rain",)
