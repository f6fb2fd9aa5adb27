"""Where a person types: history, several lines, pasting, and the two ways to leave."""

from collections.abc import Sequence

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from hitsend.cli.chat.keyring import private_file
from hitsend.cli.screen import say


class Prompt:
    def __init__(self, commands: Sequence[str]) -> None:
        self._session: PromptSession[str] = PromptSession(
            "> ",
            # Several lines, so that pasted ones stay one message; Enter is bound to send.
            multiline=True,
            prompt_continuation="  ",
            history=FileHistory(str(private_file("history"))),
            completer=WordCompleter(list(commands), sentence=True),
            complete_while_typing=False,
            key_bindings=_keys(),
        )
        self._is_leaving = False

    async def line(self) -> str | None:
        """What the person says; None when they leave."""
        while True:
            try:
                line = (await self._session.prompt_async()).strip()
            except EOFError:
                return None
            except KeyboardInterrupt:
                if self._leaves():
                    return None
                continue
            self._is_leaving = False
            if line:
                return line

    def _leaves(self) -> bool:
        """Ctrl-C clears what was typed; with nothing typed, the second one leaves."""
        if self._session.default_buffer.text:
            self._is_leaving = False
            return False
        if self._is_leaving:
            return True
        self._is_leaving = True
        say("Ctrl-C again, or Ctrl-D, leaves.")
        return False


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    # What was typed ahead of the prompt has line feeds where the keyboard sent returns.
    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline()

    return keys
