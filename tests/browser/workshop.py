"""A server whose scripted engine also has tools of the tests: one that writes, one that waits, one
that asks, and one with text by strangers. Its model first gives the answers in WORKSHOP_ANSWERS, a
list as JSON, whatever it is asked. It takes the flags of `hitsend serve` that the tests use.

    python -m tests.browser.workshop --port 0 --data-dir DIR
"""

import argparse
import asyncio
import os
import signal
import sys
from base64 import b64decode
from pathlib import Path

import msgspec

from hitsend.engine import Script, ScriptedEngine
from hitsend.logs import configure_logs
from hitsend.messages import CitedSource
from hitsend.server.app import open_app
from hitsend.server.serve import listen
from hitsend.settings import Settings, load
from hitsend.tools import Call, CallResult, HostedTool, ToolFile, hosted_tool

DOT = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQz44AAAGPAONby8P1AAAAAElFTkSuQmCC"
)
"""A picture of one pixel."""

ORDER_FORM = {
    "type": "object",
    "properties": {
        "size": {
            "type": "string",
            "title": "Size",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "count": {"type": "integer", "title": "How many", "minimum": 1, "maximum": 9},
        "note": {"type": "string", "title": "Note", "maxLength": 40},
        "is_gift": {"type": "boolean", "title": "As a gift"},
    },
    "required": ["size", "count"],
}


def build_tools(letters: Path) -> list[HostedTool]:
    @hosted_tool("letters", effect="writes")
    async def post_letter(call: Call, *, to: str, text: str) -> str:
        """Posts a letter."""
        with letters.open("a", encoding="utf-8") as file:
            file.write(f"{to}: {text}\n")
        return f"Posted to {to}."

    @hosted_tool("slow", timeout_s=60)
    async def wait_long(call: Call, *, name: str) -> str:
        """Waits until somebody stops it."""
        call.report(f"{name} is at the door.\n")
        await asyncio.Event().wait()
        return name

    @hosted_tool("shop")
    async def order_tea(call: Call, *, kind: str) -> str:
        """Orders tea."""
        reply = await call.ask(f"Which {kind} tea?", msgspec.json.encode(ORDER_FORM).decode())
        return f"{reply.action}: {reply.content}"

    @hosted_tool("news", is_untrusted=True)
    async def read_news(call: Call, *, about: str) -> CallResult:
        """Reads the news."""
        table = "| day | rain |\n| --- | --- |\n| Monday | 3 mm |\n| Tuesday | none |"
        return CallResult(
            f"News about {about}.\n\n{table}",
            sources=(
                CitedSource("The weekly rain", "https://rain.example.org/news"),
                CitedSource("A trap", "javascript:alert(1)"),
            ),
            files=(ToolFile("rain.png", "image/png", DOT), ToolFile("rain.csv", "text/csv", b"3")),
        )

    @hosted_tool("odd")
    async def fall_over(call: Call) -> str:
        """Does not work."""
        return msgspec.json.decode("no", type=str)

    return [post_letter, wait_long, order_tea, read_news, fall_over]


async def serve(settings: Settings) -> None:
    is_over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, is_over.set)
    tools = build_tools(settings.data_dir / "letters.txt")
    answers = msgspec.json.decode(os.environ.get("WORKSHOP_ANSWERS", "[]"), type=list[str])
    engine = ScriptedEngine([Script(answer) for answer in answers])
    async with open_app(settings, engine, tools) as app, listen(app) as address:
        sys.stdout.write(f"The workshop is at {address}\n")
        sys.stdout.flush()
        await is_over.wait()
        await app.runner.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--data-dir", type=Path)
    given = parser.parse_args()
    loaded = load({"port": given.port, "data_dir": given.data_dir})
    configure_logs("warning", "text")
    asyncio.run(serve(loaded.settings))


if __name__ == "__main__":
    main()
