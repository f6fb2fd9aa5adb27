"""The tool `calculate_date`."""

import time
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, TypeAlias

from msgspec import Meta

from hitsend.tools.dates import (
    add_duration,
    add_months,
    count_business_days,
    count_months,
    read_date,
    read_duration,
    write_date,
)
from hitsend.tools.hosted_tool import Call, HostedTool, hosted_tool
from hitsend.tools.places import zone_of

Clock: TypeAlias = Callable[[], float]
"""Returns Unix seconds."""

Day = Annotated[
    str, Meta(max_length=100, description="2026-11-19, 19 November 2026, today, or next Friday.")
]
Added = Annotated[
    str, Meta(max_length=100, description="Time to add: 3 weeks, -2 months or 10 business days.")
]
Until = Annotated[str, Meta(max_length=100, description="A second date, to count the days to it.")]


def make_calculate_date(now: Clock = time.time) -> HostedTool:
    @hosted_tool("time")
    async def calculate_date(call: Call, *, date: Day, add: Added = "", until: Until = "") -> str:
        """Tells the weekday of a date, adds time to it, or counts the days to another date.
        "Which weekday is 3 May 2027?" date=3 May 2027
        "How many days from 1 March to 9 June?" date=1 March, until=9 June
        "How many days until New Year?" date=today, until=New Year
        "Which date is 40 days before 4 April?" date=4 April, add=-40 days
        "How old is someone born on 17 May 1990?" date=17 May 1990, until=today
        Also: "What date is three weeks from now?"
        """
        today = datetime.fromtimestamp(now(), zone_of(call.time_zone)).date()
        day = read_date(date, today)
        lines = []
        if add.strip():
            line, day = _add(day, add.strip())
            lines.append(line)
        if until.strip():
            lines.append(_describe_distance(day, read_date(until, today)))
        return "\n".join(lines or [_describe(day)])

    return calculate_date


def _add(start: date, text: str) -> tuple[str, date]:
    duration = read_duration(text)
    end = add_duration(start, duration)
    note = ""
    if duration.months and start.day > (last := add_months(start, duration.months)).day:
        note = f" {last:%B} {last.year} has no day {start.day}, so its last day was taken."
    return f"Added to {write_date(start)}: {text}. Result: {_describe(end)}{note}", end


def _describe(day: date) -> str:
    year, week, _ = day.isocalendar()
    return (
        f"{write_date(day)} ({day.isoformat()}), week {week} of {year}, "
        f"day {day.timetuple().tm_yday} of the year."
    )


def _describe_distance(start: date, end: date) -> str:
    if start == end:
        return "Both are the same day."
    first, last = min(start, end), max(start, end)
    num_days = (last - first).days
    business_days = _count(count_business_days(first, last), "business day")
    order = f"From {write_date(first)} to {write_date(last)}"
    if start > end:
        order = f"The second date is earlier. {order}"
    other = [text for text in (_in_months(first, last), _in_weeks(num_days)) if text]
    also = f", or {', or '.join(other)}" if other else ""
    return (
        f"{order}: {_count(num_days, 'day')}{also}. {business_days} after the first date "
        "(Monday to Friday, public holidays included)."
    )


def _in_months(first: date, last: date) -> str:
    months, days = count_months(first, last)
    if not months:
        return ""
    parts = [(months // 12, "year"), (months % 12, "month"), (days, "day")]
    return " ".join(_count(number, unit) for number, unit in parts if number)


def _in_weeks(num_days: int) -> str:
    weeks, days = divmod(num_days, 7)
    if not weeks:
        return ""
    return " ".join(
        _count(number, unit) for number, unit in ((weeks, "week"), (days, "day")) if number
    )


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"
