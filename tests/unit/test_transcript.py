import msgspec

from hitsend import transcript
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerStarted,
    AnyEvent,
    MessageAdded,
    PromptRead,
    TextArrived,
    TitleChosen,
    ToolCallArrived,
    TurnFailed,
    TurnFinished,
)
from hitsend.messages import Message, Text, Token, ToolCall, Usage

ASKED = MessageAdded("q", None, Message("user", (Text("Hi"),), "user"))
STARTED = AnswerStarted("a", "q", "model")


def said(text: str) -> TextArrived:
    return TextArrived(text, (Token(1, text, -0.5, 2.0),))


def answer_of(*events: AnyEvent) -> transcript.FoldedMessage:
    return transcript.fold([ASKED, STARTED, *events]).messages[-1]


def test_a_question_and_its_answer_are_two_messages() -> None:
    made = transcript.fold([ASKED, STARTED, said("Hel"), said("lo")])
    assert [(one.role, one.text, one.status) for one in made.messages] == [
        ("user", "Hi", "finished"),
        ("assistant", "Hello", "in_progress"),
    ]
    assert made.messages[1].parent_id == "q"
    assert made.ending is None


def test_text_around_a_tool_call_keeps_its_place() -> None:
    call = ToolCall("c", "weather", "{}")
    made = answer_of(said("a"), said("b"), ToolCallArrived(call), said(""), said("c"))
    assert made.parts == (Text("ab"), call, Text("c"))


def test_a_finished_answer_has_its_ending_and_usage() -> None:
    usage = Usage(5, 3, 1)
    made = transcript.fold(
        [ASKED, STARTED, said("a"), AnswerFinished("a", "length", usage), TurnFinished("length")]
    )
    answer = made.messages[-1]
    assert (answer.status, answer.ending, answer.usage) == ("finished", "length", usage)
    assert made.ending == "length"


def test_a_stopped_answer_keeps_its_text_and_usage() -> None:
    answer = answer_of(PromptRead(3, 4, 0.5, 1.5), said("a"), said("b"), TurnFinished("stopped"))
    assert (answer.text, answer.status, answer.ending) == ("ab", "partial", "stopped")
    assert answer.usage == Usage(7, 3, 2, 0.5, 1.5)


def test_a_failed_answer_keeps_its_text() -> None:
    failure = TurnFailed("worker_lost", "It died.", True)
    made = transcript.fold([ASKED, STARTED, said("a"), failure])
    assert (made.messages[-1].text, made.messages[-1].status) == ("a", "failed")
    assert (made.ending, made.failure) == ("failed", failure)


def test_an_answer_that_has_ended_does_not_end_again() -> None:
    answer = answer_of(AnswerFinished("a", "stop", Usage()), TurnFailed("odd", "?", False))
    assert (answer.status, answer.ending) == ("finished", "stop")


def test_a_question_is_finished_even_if_no_answer_begins() -> None:
    made = transcript.fold([ASKED, TurnFailed("engine_down", "Not now.", True)])
    assert [one.status for one in made.messages] == ["finished"]


def test_the_last_title_counts() -> None:
    assert transcript.fold([TitleChosen("Eggs", 1), TitleChosen("Boiling eggs", 2)]).title == (
        "Boiling eggs"
    )


def test_the_engine_usage_does_not_overwrite_the_first_word_time() -> None:
    first = TextArrived("Hel", (), 31.5)
    counted = Usage(12, 8, 2, 0.4, 21.5, 10.0)
    done = answer_of(first, said("lo"), AnswerFinished("a", "stop", counted))
    assert done.usage == Usage(12, 8, 2, 0.4, 21.5, 10.0, first_word_ms=31.5)
    cut = answer_of(first, said("lo"), TurnFinished("stopped"))
    assert cut.usage
    assert cut.usage.first_word_ms == 31.5


def test_a_stopped_search_counts_its_searched_tokens() -> None:
    looking = [TextArrived("", (), num_searched_tokens=number) for number in (1, 4, 4)]
    cut = answer_of(*looking, TurnFinished("stopped"))
    assert cut.usage
    assert (cut.usage.num_output_tokens, cut.usage.num_searched_tokens) == (0, 9)
    plain = answer_of(said("Hello"), TurnFinished("stopped"))
    assert plain.usage
    assert plain.usage.num_searched_tokens is msgspec.UNSET


def test_usage_stored_without_a_first_word_can_be_read() -> None:
    old = b'{"num_input_tokens":12,"num_output_tokens":2,"prefill_ms":21.5}'
    usage = msgspec.json.decode(old, type=Usage)
    assert usage == Usage(num_input_tokens=12, num_output_tokens=2, prefill_ms=21.5)
    assert b"first_word_ms" not in msgspec.json.encode(usage)


def test_a_delay_does_not_change_the_answer() -> None:
    assert answer_of(AnswerDelayed("queue", 3)) == answer_of()
