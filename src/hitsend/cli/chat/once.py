"""One question from a pipe, one answer to a pipe: plain text, nothing drawn."""

import asyncio
import sys
from contextlib import aclosing

from hitsend.cli.screen import say
from hitsend.client import Client, Finished, Started, TextAdded
from hitsend.errors import Refused


async def answer_once(client: Client, model: str) -> int:
    question = sys.stdin.read().strip()
    if not question:
        raise Refused("There is nothing to send: pipe a message in, or use a terminal.")
    conversation_id = ""
    try:
        async with aclosing(client.send(question, model=model)) as updates:
            async for update in updates:
                match update:
                    case Started():
                        conversation_id = update.conversation_id
                    case TextAdded(text=text):
                        sys.stdout.write(text)
                        sys.stdout.flush()
                    case Finished():
                        sys.stdout.write("\n")
                        return _ended(update)
    except asyncio.CancelledError:
        if conversation_id:  # nobody is going to read the rest
            await client.stop(conversation_id)
        raise
    return 0


def _ended(finished: Finished) -> int:
    if finished.failure is not None:
        say(f"hitsend: {finished.failure.message}")
    return 0 if finished.status == "finished_successfully" else 1
