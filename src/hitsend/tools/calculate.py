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
    It knows the units: 5 ft 3 in in cm; 20 C in F; 90 km/h * 20 min.
    "What is 15% of 80?" expression=15% of 80
    "How many km are 12 miles?" expression=12 miles in km
    "Split 96.40 between four people." expression=96.40 / 4
    "What do 6 books cost at 2.30 each?" expression=6 * 2.30
    Also: "What is 17 times 23?", "Convert 70 kg to pounds", "What is the square root of 200?"
    Also: "Add 19.99 and 4.50"
    """
    shown = " ".join(expression.split())
    if len(shown) > MAX_SHOWN_CHARS:
        shown = shown[: MAX_SHOWN_CHARS - 1] + "…"
    # In a thread, because numbers of thousands of digits take some milliseconds.
    return await asyncio.to_thread(lambda: write_answer(shown, work_out(expression)))
