"""Questions of running calls to the person at the terminal: whether a call may run, and forms."""

import sys
import termios
from collections.abc import Callable, Mapping
from typing import NamedTuple

from prompt_toolkit import PromptSession
from rich.console import Console

from hitsend.cli.chat.call_lines import show_arguments
from hitsend.cli.chat.form_fields import Field, parse_field, read_fields
from hitsend.cli.chat.markdown_stream import escape_controls
from hitsend.client import ApprovalAsked, CallVerdict, FormAsked
from hitsend.errors import Refused
from hitsend.messages import FormAction, Verdict

REASONS = {
    "writes": "It may change or send something elsewhere.",
    "untrusted": "The model has read text by strangers, who may be behind it.",
}
DECISIONS: dict[str, Verdict] = {
    "o": "once",
    "once": "once",
    "y": "once",
    "yes": "once",
    "c": "conversation",
    "conversation": "conversation",
    "a": "always",
    "always": "always",
    "r": "refused",
    "refuse": "refused",
    "n": "refused",
    "no": "refused",
}
MAX_WORD_CHARS = 500


class FormReply(NamedTuple):
    action: FormAction
    content: Mapping[str, object] = {}


class Questions:
    def __init__(self, console: Console) -> None:
        self._console = console
        self.on_interrupt: Callable[[], None] = lambda: None
        """Called when the person presses Ctrl-C at a question."""

    async def ask_approval(self, asked: ApprovalAsked) -> CallVerdict | None:
        """Returns None if the person leaves it undecided."""
        server = f" of {asked.server}" if asked.server else ""
        self._print(f"{asked.tool}{server} wants to run:", style="bold")
        for line in show_arguments(asked.arguments):
            self._print(f"  {line}")
        self._print(REASONS.get(asked.reason, ""), style="dim")
        can_remember = asked.reason != "untrusted"
        choices = "[o]nce, in this [c]onversation, [a]lways" if can_remember else "[o]nce"
        question = f"Allow it? {choices}, or [r]efuse, with a word if you like: "
        while (typed := await self._read(question)) is not None:
            verdict = parse_verdict(asked.call_id, typed, can_remember=can_remember)
            if verdict is not None:
                return verdict
        self._print("Not decided. It can be decided on the page.", style="dim")
        return None

    async def ask_form(self, asked: FormAsked) -> FormReply:
        self._print(f"{asked.tool} asks: {asked.message}", style="bold")
        try:
            fields = read_fields(asked.schema)
        except Refused as error:
            self._print(error.message, style="dim")
            return FormReply("decline")
        self._print("Ctrl-D answers nothing.", style="dim")
        content: dict[str, object] = {}
        for field in fields:
            is_given, value = await self._ask_field(field)
            if not is_given:
                return FormReply("decline")
            if value is not None:
                content[field.name] = value
        return FormReply("accept", content)

    async def _ask_field(self, field: Field) -> tuple[bool, object]:
        if field.schema.description:
            self._print(field.schema.description, style="dim")
        while (typed := await self._read(escape_controls(field.question))) is not None:
            try:
                return True, parse_field(field, typed)
            except Refused as error:
                self._print(error.message, style="dim")
        return False, None

    async def _read(self, question: str) -> str | None:
        """Returns None after Ctrl-D or Ctrl-C. Keys typed before the question do not answer it."""
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        session: PromptSession[str] = PromptSession(question)
        try:
            return (await session.prompt_async(handle_sigint=False)).strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            self.on_interrupt()
            return None

    def _print(self, text: str, style: str = "") -> None:
        if text:
            self._console.print(escape_controls(text), style=style, markup=False, highlight=False)


def parse_verdict(call_id: str, typed: str, *, can_remember: bool) -> CallVerdict | None:
    """Returns None for what is no decision. The word of a refusal is for the model."""
    first, _, word = typed.strip().partition(" ")
    decision = DECISIONS.get(first.lower().rstrip(",:"))
    if decision is None or (decision in ("conversation", "always") and not can_remember):
        return None
    if decision != "refused":
        return None if word.strip() else CallVerdict(call_id, decision)
    return CallVerdict(call_id, decision, word.strip()[:MAX_WORD_CHARS])
