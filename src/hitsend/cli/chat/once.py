"""One question from a pipe, one answer to a pipe: plain text, nothing drawn."""

import asyncio
import sys

from hitsend.cli.screen import say
from hitsend.client import Client, Finished, TextAdded, TextReplaced, Unavailable
from hitsend.errors import Refused


async def answer_once(client: Client, model: str) -> int:
    question = sys.stdin.read().strip()
    if not question:
        raise Refused("There is nothing to send: pipe a message in, or use a terminal.")
    async with client.send(question, model=model) as answer:
        try:
            async for update in answer:
                match update:
                    case TextAdded(text=text):
                        sys.stdout.write(text)
                        sys.stdout.flush()
                    case TextReplaced():
                        raise Unavailable("What is above arrived damaged. Ask again.")
                    case Finished():
                        sys.stdout.write("\n")
                        return _ended(update)
        except asyncio.CancelledError:
            await answer.stop()  # nobody is going to read the rest
            raise
    return 0


def _ended(finished: Finished) -> int:
    if finished.failure is not None:
        say(f"hitsend: {finished.failure.message}")
    return 0 if finished.status == "finished_successfully" else 1
