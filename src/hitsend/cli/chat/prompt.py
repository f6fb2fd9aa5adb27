"""The input prompt: history, multiple lines, pasting, Ctrl-C and Ctrl-D."""

from collections.abc import Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from hitsend.cli.chat.keyring import private_file
from hitsend.cli.output import print_note
from hitsend.safety import find_secrets


class History(FileHistory):
    """Keeps no line with a secret in it."""

    def store_string(self, string: str) -> None:
        if not find_secrets(string):
            super().store_string(string)


class Prompt:
    def __init__(self, commands: Sequence[str]) -> None:
        self._session: PromptSession[str] = PromptSession(
            "> ",
            # Multiline, so that pasted lines stay one message; Enter sends.
            multiline=True,
            prompt_continuation="  ",
            history=History(str(private_file("history"))),
            completer=WordCompleter(list(commands), sentence=True),
            complete_while_typing=False,
            key_bindings=_keys(),
        )
        self._is_leaving = False

    async def read_line(self) -> str | None:
        """Returns the input; None to quit."""
        while True:
            try:
                line = (await self._session.prompt_async()).strip()
            except EOFError:
                return None
            except KeyboardInterrupt:
                if self._handle_ctrl_c():
                    return None
                continue
            self._is_leaving = False
            if line:
                return line

    async def confirm(self, question: str) -> bool:
        """Asks a question to which everything but `y` is a no."""
        session: PromptSession[str] = PromptSession(f"{question} [y/N] ")
        try:
            return (await session.prompt_async()).strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            return False

    def _handle_ctrl_c(self) -> bool:
        """Ctrl-C clears the input; on empty input, a second Ctrl-C quits."""
        if self._session.default_buffer.text:
            self._is_leaving = False
            return False
        if self._is_leaving:
            return True
        self._is_leaving = True
        print_note("Press Ctrl-C again, or Ctrl-D, to quit.")
        return False


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    # Keys typed before the prompt arrive with line feeds instead of returns.
    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline()

    return keys
