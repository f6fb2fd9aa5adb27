"""`hitsend chat`: a conversation on a terminal, or one answer through a pipe."""

import asyncio
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from hitsend.cli.chat.connect import ChatTarget, connect
from hitsend.cli.chat.safety_notes import Placeholders, describe_block
from hitsend.cli.flags import with_settings
from hitsend.cli.output import print_note
from hitsend.client import (
    ApprovalAsked,
    Client,
    Finished,
    FormAsked,
    Screened,
    TextAdded,
    TextCut,
    TextReplaced,
    Unavailable,
)
from hitsend.errors import Refused
from hitsend.safety import describe_secrets
from hitsend.settings import Loaded, Settings


@with_settings("data_dir", "port")
def chat(
    loaded: Loaded,
    *,
    url: Annotated[
        str | None,
        Parameter(env_var="HITSEND_URL", help="Address of the server, if it is elsewhere."),
    ] = None,
    key: Annotated[
        str | None,
        Parameter(env_var="HITSEND_KEY", help="API key; on this machine one is created."),
    ] = None,
    user: Annotated[str | None, Parameter(help="Account to use, if there are several.")] = None,
    model: Annotated[str, Parameter(help="Model that answers.")] = "auto",
    tools: Annotated[
        str, Parameter(help="Tools to turn on, such as calculator,time. /tools lists them.")
    ] = "",
    send_secrets: Annotated[
        bool, Parameter(help="Send a piped message although it contains a key or card number.")
    ] = False,
) -> int:
    """Chats on a terminal; otherwise answers the message on standard input."""
    wanted = ChatTarget(url=url, key=key, user=user)
    features = [name for name in tools.replace(",", " ").split() if name]
    return asyncio.run(_chat(loaded.settings, wanted, model, features, send_secrets))


async def _chat(
    settings: Settings,
    wanted: ChatTarget,
    model: str,
    features: Sequence[str],
    send_secrets: bool,
) -> int:
    _cancel_on_signals()
    async with connect(settings, wanted) as client:
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            return await answer_pipe(client, model, features, send_secrets=send_secrets)
        # Imported late: prompt-toolkit and Markdown take 0.2 s, which a pipe need not wait for.
        from hitsend.cli.chat.terminal import Terminal

        return await Terminal(client, model, features).run()


def _cancel_on_signals() -> None:
    """Cancels the chat, so that its server stops too, also when the window is closed."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


async def answer_pipe(
    client: Client, model: str, features: Sequence[str] = (), *, send_secrets: bool = False
) -> int:
    question = sys.stdin.read().strip()
    if not question:
        raise Refused("There is nothing to send: pipe a message in, or use a terminal.")
    if not send_secrets and (secrets := describe_secrets(question)) is not None:
        raise Refused(
            f"This message contains {secrets}. Nothing was sent. Add --send-secrets to send it."
        )
    message_id, placeholders = "", Placeholders()
    async with client.send(question, model=model, features=features) as answer:
        try:
            async for update in answer:
                match update:
                    case TextAdded(text=text):
                        begins_round = message_id not in ("", update.message_id)
                        message_id = update.message_id
                        shown = placeholders.add(text)
                        sys.stdout.write(f"\n\n{shown}" if begins_round else shown)
                        sys.stdout.flush()
                    case ApprovalAsked(call_id=call_id, tool=tool):
                        print_note(f"hitsend: {tool} was refused: nobody can be asked in a pipe.")
                        await client.approve(call_id, "refused", "Nobody could be asked.")
                    case FormAsked(form_id=form_id):
                        await client.answer_form(form_id, "decline")
                    case TextReplaced():
                        raise Unavailable("The text above was damaged on the way. Ask again.")
                    case Screened(redactions=redactions):
                        placeholders.learn(redactions)
                    case TextCut():
                        print_note("hitsend: the end of what is above was taken back.")
                    case Finished():
                        sys.stdout.write(f"{placeholders.finish()}\n")
                        return _exit_code(update)
        except asyncio.CancelledError:
            await answer.stop()  # nobody reads the rest
            raise
    return 0


def _exit_code(finished: Finished) -> int:
    if finished.failure is not None:
        print_note(f"hitsend: {finished.failure.message}")
    elif finished.is_blocked:
        print_note(f"hitsend: {describe_block(finished)}")
    return 0 if finished.status == "finished_successfully" else 1
