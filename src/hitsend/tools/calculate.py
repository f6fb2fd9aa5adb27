"""The tool `calculate`."""

import asyncio
from typing import Annotated

from msgspec import Meta

from hitsend.tools.calculator.answer import write_answer
from hitsend.tools.calculator.parse import work_out
from hitsend.tools.hosted_tool import Call, hosted_tool

MAX_CHARS = 500
MAX_SHOWN_CHARS = 100

Expression = Annotated[str, Meta(max_length=MAX_CHARS, description="What to work out.")]


@hosted_tool("calculator")
async def calculate(call: Call, *, expression: Expression) -> str:
    """Works out arithmetic, percentages, powers, roots, functions and unit conversions exactly.
    It knows the units: 12 miles in km; 5 ft 3 in in cm; 20 C in F; 90 km/h * 20 min.
    Other examples: 1234.5 * 67; 15% of 80; sqrt(2) ^ 3."""
    shown = " ".join(expression.split())
    if len(shown) > MAX_SHOWN_CHARS:
        shown = shown[: MAX_SHOWN_CHARS - 1] + "…"
    # In a thread, because numbers of thousands of digits take some milliseconds.
    return await asyncio.to_thread(lambda: write_answer(shown, work_out(expression)))
