"""Write tests/turns/: recorded turns that the Python and the TypeScript tests both read.

For each turn NAME.jsonl has its events, NAME.sse the v1 stream with one event per batch, and
NAME.json the expected result: the folded transcript and the messages as they travel.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from hitsend import transcript
from hitsend.events import (
    AnswerDelayed,
    AnswerFinished,
    AnswerGuarded,
    AnswerStarted,
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    ContextBuilt,
    FormAnswered,
    FormShown,
    MemoriesChanged,
    MessageAdded,
    MessageScreened,
    PromptEncoded,
    PromptRead,
    PromptWarmed,
    Section,
    Span,
    Stamped,
    TextArrived,
    TextEnd,
    TitleChosen,
    ToolArgumentsArrived,
    ToolCallArrived,
    ToolCallDropped,
    ToolCallStarted,
    ToolProgressed,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from hitsend.messages import (
    Alternative,
    Approval,
    ChangedMemory,
    CitedSource,
    Form,
    Message,
    Sampling,
    Seen,
    Text,
    Token,
    ToolCall,
    ToolResult,
    Usage,
    UsedPrompt,
)
from hitsend.safety.policy import SafetyReason, Screening
from hitsend.safety.redaction import Redaction
from hitsend.sse import DONE
from hitsend.wire.message import Origin, build_message
from hitsend.wire.v1 import V1View

TURNS = Path(__file__).parent.parent / "tests" / "turns"

TURN = "5f0c8a52-7d0e-4a59-9d3b-1f6f2a7c9e01"
CONVERSATION = "0b9e4f6e-3c55-4f7c-8f5a-6a1d2c3b4e02"
QUESTION = "a2d7c1b4-9e8f-4d6a-b5c3-7f8e9d0c1b03"
ANSWER = "c4b3a2d1-0f9e-4c8b-a7d6-5e4f3c2b1a04"
EARLIER = "d5c4b3a2-1e0f-4b9a-86c7-4d5e6f7a8b05"
FIRST_RESULT = "e6d5c4b3-2f1a-4cab-97d8-5e6f7a8b9c06"
SECOND_RESULT = "f7e6d5c4-3a2b-4dbc-88e9-6f7a8b9cad07"
LAST_ANSWER = "a8f7e6d5-4b3c-4ecd-99fa-7a8b9cadbe08"
MODEL = "smollm2-135m"

Events = Iterable[AnyEvent]


def opening_events(asked: str, title: str | None = None) -> Iterator[AnyEvent]:
    """The events before the first word of an answer to a new message."""
    sampling = Sampling(temperature=0.7, seed=7, max_tokens=512)
    yield TurnStarted(TURN, CONVERSATION, "next", MODEL, title is not None, 1760000000.5, sampling)
    yield ContextBuilt((Section("system", 1, 21), Section("user", 1, len(asked))))
    spans = (Span("template", -1, 3), Span("system", 0, 5), Span("user", 1, 4))
    yield PromptEncoded(12, 8192, 0, True, spans)
    yield TurnAccepted()
    parent = None if title else EARLIER
    yield MessageAdded(QUESTION, parent, Message("user", (Text(asked),), "user"))
    if title:
        yield TitleChosen(title, 1)
    yield AnswerStarted(ANSWER, QUESTION, MODEL)
    yield PromptRead(8, 4, 0.4, 21.5)


def text_events(*texts: str) -> Iterator[AnyEvent]:
    """Yields one arrival per text, with one token each."""
    for i, text in enumerate(texts):
        others = (Alternative(400 + i, "?", -2.25),)
        yield TextArrived(text, (Token(300 + i, text, -0.125, 25.0 + 10 * i, others),))


def end_events(num_tokens: int) -> Iterator[AnyEvent]:
    yield AnswerFinished(ANSWER, "stop", Usage(12, 8, num_tokens, 0.4, 21.5, 10.0 * num_tokens))
    yield TurnFinished("stop")


def hello() -> Events:
    yield from opening_events("Say hello.", title="Say hello.")
    yield from text_events("Hel", "lo", " there", "!")
    yield from end_events(4)


def thought() -> Events:
    """A server told what the model thought apart from its answer."""
    yield from opening_events("Say hello.")
    yield TextArrived("", reasoning="They ")
    yield TextArrived("", reasoning="want a greeting.")
    yield TextArrived("Hello", thought_ms=1234.5)
    yield from text_events("!")
    yield from end_events(1)


def guarded() -> Events:
    """The safety checks cut what was shown already."""
    opening = list(opening_events("Say something."))
    screened = Screening("prompt", "allow", (SafetyReason("rule", "weapons", 0.5),))
    yield opening[0]
    yield MessageScreened(screened)
    yield from opening[1:]
    yield from text_events("Fine.", " Then", " more.")
    kept = "Fine."
    end = TextEnd(len(kept), hashlib.sha256(kept.encode()).hexdigest())
    yield AnswerGuarded(Screening("answer", "cut", (SafetyReason("rule", "denied"),)), end)
    yield AnswerFinished(ANSWER, "blocked", Usage(12, 8, 3, 0.4, 21.5, 30.0))
    yield TurnFinished("blocked")


def emoji() -> Events:
    """Characters that came in pieces: a token that completes none has no text."""
    yield from opening_events("Zeig mir was 👋", title="Zeig mir was 👋")
    yield from text_events(
        "", "", "", "👩", "\u200d", "🚀", " Grüße", "\n\t", "漢字", ' "quoted" \\ ~/', "e\u0301"
    )
    yield from text_events("\u2028", "\x7f", "</script>", "🇩🇪")
    yield from end_events(15)


def stopped() -> Events:
    yield from opening_events("Count to a hundred.")
    yield from text_events("1", ", 2", ", 3")
    yield TurnFinished("stopped")


def stopped_before_a_word() -> Events:
    yield from opening_events("Think long.")
    yield TurnFinished("stopped")


def interrupted() -> Events:
    yield from opening_events("Go on.")
    yield from text_events("Once", " upon")
    yield TurnFinished("interrupted")


def failed() -> Events:
    yield from opening_events("Tell me a story.")
    yield from text_events("Once", " upon", " a")
    yield TurnFailed("worker_lost", "The model stopped while it was answering.", True, 1500)


def failed_before_answering() -> Events:
    yield from list(opening_events("Hello?", title="Hello?"))[:-2]
    yield TurnFailed("engine_down", "No model is ready.", True)


def tools() -> Events:
    yield from opening_events("What is the weather in Paris and Rome?")
    yield from text_events("Let me", " look.")
    yield ToolCallArrived(ToolCall("call_1", "weather", '{"city":"Paris"}'))
    yield ToolCallArrived(ToolCall("call_2", "weather", '{"city":"Rome"}'))
    yield AnswerFinished(ANSWER, "tool_calls", Usage(12, 8, 30, 0.4, 21.5, 300.0))
    yield TurnFinished("tool_calls")


def tools_as_written() -> Events:
    """The calls come as the model writes them. The second one is cut at the limit."""
    yield from opening_events("What is the weather in Paris and Rome?")
    yield from text_events("Let me", " look.", "")
    yield ToolCallStarted("call_1", "weather")
    for piece in ('{"city"', ': "Pa', 'ris"}'):
        yield from text_events("")
        yield ToolArgumentsArrived("call_1", piece)
    yield ToolCallArrived(ToolCall("call_1", "weather", '{"city": "Paris"}'))
    yield ToolCallStarted("call_2", "weather")
    yield ToolArgumentsArrived("call_2", '{"city": "R')
    yield ToolCallDropped("cut", call_id="call_2")
    yield AnswerFinished(ANSWER, "length", Usage(12, 8, 30, 0.4, 21.5, 300.0))
    yield TurnFinished("length")


def tools_of_ours() -> Events:
    """Two calls that hitsend runs side by side: one prints, one asks the person twice. The answer
    goes on with their results."""
    yield from opening_events("What is 6 times 7? Then send it to Ann.")
    yield from text_events("One moment.")
    yield ToolCallStarted("call_1", "run_python", is_hosted=True)
    yield ToolArgumentsArrived("call_1", '{"code": "print(6*7)"}')
    printed = ToolCall("call_1", "run_python", '{"code": "print(6*7)"}', is_hosted=True)
    yield ToolCallArrived(printed)
    posted = ToolCall("call_2", "post__send", '{"to": "Ann"}', is_hosted=True)
    yield ToolCallArrived(posted)
    yield AnswerFinished(ANSWER, "tool_calls", Usage(12, 8, 30, 0.4, 21.5, 300.0))
    first = ToolResult("call_1", "", tool="run_python", progress="")
    second = ToolResult("call_2", "", tool="post__send", server="Post", progress="")
    yield ToolStarted(FIRST_RESULT, ANSWER, first)
    yield ToolStarted(SECOND_RESULT, FIRST_RESULT, second)
    yield ApprovalRequested("call_2", "writes")
    yield ToolProgressed("call_1", "4")
    yield ToolProgressed("call_1", "2\n")
    yield ApprovalDecided("call_2", "conversation")
    yield ToolReturned(replace(first, output="42\n", progress=UNSET))
    form = Form("form_1", "Which Ann?", '{"type":"object","properties":{"name":{"type":"string"}}}')
    yield FormShown("call_2", form)
    yield FormAnswered("call_2", "form_1", "accept")
    returned = replace(
        second,
        output="Sent.",
        progress=UNSET,
        approval=Approval("writes", "conversation"),
        form=replace(form, action="accept"),
        is_untrusted=True,
        sources=(CitedSource("Post", "https://post.example/1"),),
    )
    yield ToolReturned(returned)
    yield AnswerStarted(LAST_ANSWER, SECOND_RESULT, MODEL)
    yield from text_events("It", " is 42, and Ann knows.")
    yield AnswerFinished(LAST_ANSWER, "stop", Usage(60, 40, 2, 0.4, 21.5, 20.0))
    yield TurnFinished("stop")


def waits_for_the_person() -> Events:
    """Nobody allows the call in time, and the turn ends."""
    yield from opening_events("Send it to Ann.")
    yield ToolCallArrived(ToolCall("call_1", "send", '{"to": "Ann"}', is_hosted=True))
    yield AnswerFinished(ANSWER, "tool_calls", Usage(12, 8, 30, 0.4, 21.5, 300.0))
    yield ToolStarted(FIRST_RESULT, ANSWER, ToolResult("call_1", "", tool="send", progress=""))
    yield ApprovalRequested("call_1", "untrusted")
    yield ApprovalDecided("call_1", "expired")
    yield TurnFinished("tool_calls")


def interrupted_in_tool() -> Events:
    """The server stopped while a call was running."""
    yield from opening_events("Count to ten.")
    yield ToolCallArrived(ToolCall("call_1", "run_python", '{"code": "count()"}', is_hosted=True))
    yield AnswerFinished(ANSWER, "tool_calls", Usage(12, 8, 30, 0.4, 21.5, 300.0))
    result = ToolResult("call_1", "", tool="run_python", progress="")
    yield ToolStarted(FIRST_RESULT, ANSWER, result)
    yield ToolProgressed("call_1", "1\n2\n")
    yield TurnFinished("interrupted")


def title() -> Events:
    """A better title comes in the middle of the answer, and what deltas carry survives it."""
    yield from opening_events("How do I boil an egg?", title="How do I boil an egg?")
    yield from text_events("Put", " it")
    yield TitleChosen("Boiling eggs", 2)
    yield from text_events(" in", " water.")
    yield from end_events(4)


def remembered() -> Events:
    """Memories are shown to the model, one is added on the way, one is suggested afterwards."""
    start, built, *rest = opening_events("Remember that I bake.")
    seen = Seen(memories=("m1", "m2"), prompts=(UsedPrompt("system", 1),))
    yield start
    yield replace(built, seen=seen)
    yield from rest[:-2]
    yield MemoriesChanged((ChangedMemory("m3", "added"),))
    yield from rest[-2:]
    yield from text_events("I", " will.")
    yield from end_events(2)
    yield MemoriesChanged((ChangedMemory("m4", "suggested"),))


def asked_for() -> Events:
    """The model asked for a tool of ours, and its answer went on."""
    yield from opening_events("It would be kind to remember that I bake.")
    yield from text_events("")
    yield ToolCallArrived(ToolCall("call_1", "remember", '{"text":"I bake."}'))
    yield ToolReturned(ToolResult("call_1", "1 changed"))
    yield MemoriesChanged((ChangedMemory("m1", "added"),))
    yield PromptRead(9, 6, 0.2, 15.5)
    yield from text_events("I", " will.")
    yield from end_events(3)


def variant() -> Events:
    """Another answer to a message that is there already."""
    start, *_, answer, read = opening_events("")
    yield replace(start, action="variant")
    yield TurnAccepted()
    yield answer
    yield read
    yield from text_events("Or", " so.")
    yield from end_events(2)


def continued() -> Events:
    """More of an answer that was cut short in the middle of a word: a message below it."""
    start, *_, answer, read = opening_events("")
    yield replace(start, action="continue")
    yield ContextBuilt((Section("system", 1, 21), Section("user", 1, 20), Section("answer", 1, 9)))
    spans = (Span("template", -1, 3), Span("system", 0, 5), Span("user", 1, 4))
    yield PromptEncoded(15, 8192, 0, True, (*spans, Span("answer", 2, 3)))
    yield TurnAccepted()
    yield replace(answer, parent_id=EARLIER)
    yield read
    yield from with_first_word(text_events("ha", "lf", " past", " ten."))
    yield from end_events(4)


def delayed() -> Events:
    """An answer that waited: for its model, then for two others, then for one."""
    *before, read = opening_events("Are you there?", title="Are you there?")
    yield from before
    yield AnswerDelayed("loading", 0)
    yield AnswerDelayed("queue", 2)
    yield AnswerDelayed("queue", 1)
    yield read
    yield from with_first_word(text_events("Now", " I", " am."))
    yield from end_events(3)


def warmed() -> Events:
    """The prompt was read while the message was typed; the model finds a title once it is done."""
    asked = "How long do I boil an egg?"
    for event in opening_events(asked, title=asked):
        yield event
        if isinstance(event, TurnAccepted):
            yield PromptWarmed(True, 10, 120.0)
    yield from with_first_word(text_events("Seven", " minutes."))
    yield from end_events(2)
    yield TitleChosen("Boiling an egg", 2)


def with_first_word(arrivals: Iterator[AnyEvent]) -> Iterator[AnyEvent]:
    """Adds `first_word_ms` to the first arrival, as the runner does."""
    yield replace(next(arrivals), first_word_ms=31.5)
    yield from arrivals


def long() -> Events:
    """Many arrivals of several tokens each, with Markdown in them."""
    yield from opening_events("Explain sorting.")
    for i in range(120):
        words = (f"{i}.", " Take", " the", " smallest", " *of*", " the rest", ".\n")
        tokens = tuple(Token(10 * i + j, word, -0.5, 5.0 * i) for j, word in enumerate(words))
        yield TextArrived("".join(words), tokens)
    yield from end_events(840)


def searched() -> Events:
    """An answer of a beam search, truncated for lack of room."""
    start, *rest = opening_events("Finish: the quick brown")
    yield replace(start, sampling=Sampling(policy="beam", max_tokens=3))
    yield from rest
    yield from text_events(" fox", " jumps", " over")
    usage = Usage(
        *(12, 8, 3, 0.4, 21.5, 30.0),
        entropy=1.25,
        surprisal=0.4,
        is_truncated=True,
        num_searched_tokens=17,
    )
    yield AnswerFinished(ANSWER, "length", usage)
    yield TurnFinished("length")


def blocked() -> Events:
    """The message was stopped before the model: what answers it is ours."""
    start, *_ = opening_events("Tell me the password.", title="Blocked message")
    reason = SafetyReason("rule", "denied_phrase")
    yield start
    yield MessageScreened(Screening("prompt", "block", (reason,), 3, 0.5, is_queued=True))
    yield TurnAccepted()
    yield MessageAdded(QUESTION, None, Message("user", (Text("Tell me the password."),), "user"))
    yield TitleChosen("Blocked message", 1)
    yield AnswerStarted(ANSWER, QUESTION, MODEL)
    yield TextArrived("A rule of this server stops this text.")
    yield AnswerFinished(ANSWER, "blocked", Usage())
    yield TurnFinished("blocked")


def cut() -> Events:
    """A card number is hidden from the model, and some of its answer is taken back. Places in a
    text are counted in characters: the emoji is one, but two code units in a browser."""
    question = "Is [CARD_7F3A] valid?"
    redaction = Redaction("[CARD_7F3A]", "card", "4556 7375 8689 9855")
    start, *rest = opening_events(question)
    yield start
    yield MessageScreened(Screening("prompt", "redact", took_ms=0.4))
    for event in rest:
        if isinstance(event, MessageAdded):
            text = Text(question, redactions=(redaction,))
            event = replace(event, message=replace(event.message, parts=(text,)))
        yield event
    yield from text_events("Yes 👋", " it is. ", "But", " now")
    kept = "Yes 👋 it is. "
    end = TextEnd(len(kept), hashlib.sha256(kept.encode()).hexdigest())
    reasons = (SafetyReason("classifier", "violence", 0.97),)
    yield AnswerGuarded(Screening("answer", "cut", reasons, took_ms=6.5, is_queued=True), end)
    yield AnswerFinished(ANSWER, "blocked", Usage(12, 8, 4, 0.4, 21.5, 40.0))
    yield TurnFinished("blocked")


def stamp_events(events: Events) -> list[Stamped]:
    return [Stamped(i, 2.5 * i, event) for i, event in enumerate(events, 1)]


def outcome(log: list[Stamped]) -> bytes:
    folded = transcript.fold(entry.event for entry in log)
    start = next(entry.event for entry in log if isinstance(entry.event, TurnStarted))
    messages = [build_message(one, Origin.from_turn(start)) for one in folded.messages]
    whole = msgspec.json.encode({"transcript": folded, "messages": messages})
    return msgspec.json.format(whole, indent=2) + b"\n"


def record(name: str, log: list[Stamped]) -> None:
    view = V1View()
    lines = (msgspec.json.encode(entry) + b"\n" for entry in log)
    (TURNS / f"{name}.jsonl").write_bytes(b"".join(lines))
    (TURNS / f"{name}.sse").write_bytes(b"".join(view.encode([entry]) for entry in log) + DONE)
    (TURNS / f"{name}.json").write_bytes(outcome(log))


RECORDED = (
    hello,
    thought,
    guarded,
    emoji,
    stopped,
    stopped_before_a_word,
    interrupted,
    failed,
    failed_before_answering,
    tools,
    tools_as_written,
    tools_of_ours,
    waits_for_the_person,
    interrupted_in_tool,
    title,
    remembered,
    asked_for,
    variant,
    continued,
    delayed,
    warmed,
    long,
    searched,
    blocked,
    cut,
)

if __name__ == "__main__":
    TURNS.mkdir(exist_ok=True)
    for turn in RECORDED:
        record(turn.__name__, stamp_events(turn()))
