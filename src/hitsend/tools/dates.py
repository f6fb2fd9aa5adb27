"""Reads dates, times and durations as people write them, in English and German, and writes dates.

What could be two dates, such as 03/04/2026, is refused.
"""

import calendar
import re
from collections.abc import Mapping
from datetime import MAXYEAR, MINYEAR, date, time, timedelta
from typing import NamedTuple

from hitsend.errors import Refused

EXAMPLES = "Write it as 2026-11-19, 19 November 2026, today, or next Friday."


def _by_word(table: Mapping[int, str]) -> Mapping[str, int]:
    return {word: value for value, words in table.items() for word in words.split()}


MONTHS = _by_word(
    {
        1: "january januar jan",
        2: "february februar feb",
        3: "march märz maerz mar mrz",
        4: "april apr",
        5: "may mai",
        6: "june juni jun",
        7: "july juli jul",
        8: "august aug",
        9: "september sept sep",
        10: "october oktober oct okt",
        11: "november nov",
        12: "december dezember dec dez",
    }
)
WEEKDAYS = _by_word(
    {
        0: "monday montag mon",
        1: "tuesday dienstag tue tues",
        2: "wednesday mittwoch wed",
        3: "thursday donnerstag thu thurs",
        4: "friday freitag fri",
        5: "saturday samstag sonnabend sat",
        6: "sunday sonntag sun",
    }
)
RELATIVE = _by_word({0: "today heute now", 1: "tomorrow morgen", -1: "yesterday gestern"})
COUNTS = _by_word(
    {1: "a an one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}
    | {9: "nine", 10: "ten", 12: "twelve"}
)
UNITS = {
    word: unit
    for unit in ("days", "weeks", "months", "quarters", "years")
    for word in (unit, unit.removesuffix("s"))
}
FIXED_DAYS = {
    "christmas eve|heiligabend": "24 december",
    "christmas(?: day)?|weihnachten": "25 december",
    "new year[’']?s eve|silvester": "31 december",
    "new year(?:[’']?s(?: day)?)?|neujahr": "1 january",
    "valentine[’']?s day|valentinstag": "14 february",
    "halloween": "31 october",
}
WEEKEND = (5, 6)

ISO_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[t ].*)?")
COMPACT_DATE = re.compile(r"(\d{4})(\d{2})(\d{2})")
ISO_WEEK = re.compile(r"(\d{4})-?w(\d{2})(?:-?(\d))?")
NUMBERS = re.compile(r"(\d{1,2})([-/.])\s?(\d{1,2})\2\s?(\d{4})")
DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?")
CLOCK = re.compile(
    r"\b(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?|(\d{1,2})(?=\s*(?:am|pm|uhr)\b))"
    r"(?:\s*(am|pm|uhr))?\b|\b(?:noon|midnight)\b"
)
DURATION_PART = re.compile(
    r"\s*(?P<sign>[+-]?)\s*(?P<count>\d+|[a-z]+)\s*"
    r"(?:(?P<business>business|working|week)\s*days?|(?P<unit>[a-z]+))\b"
)


def read_date(text: str, today: date) -> date:
    """Raises Refused. A date without a year is the next one."""
    cleaned = " ".join(text.casefold().replace(",", " ").split())
    try:
        found = _read_date(cleaned, today)
    except (ValueError, OverflowError) as error:
        raise Refused(f"There is no date {text[:60]!r}: {error}.") from None
    if found is None:
        raise Refused(f"{text[:60]!r} is not understood as a date. {EXAMPLES}")
    return found


def _read_date(text: str, today: date) -> date | None:
    if (days := RELATIVE.get(text)) is not None:
        return today + timedelta(days=days)
    if found := ISO_DATE.fullmatch(text) or COMPACT_DATE.fullmatch(text):
        year, month, day = map(int, found.groups())
        return date(year, month, day)
    if found := ISO_WEEK.fullmatch(text):
        return date.fromisocalendar(int(found[1]), int(found[2]), int(found[3] or 1))
    if found := NUMBERS.fullmatch(text):
        return _read_numbers(found)
    for name, fixed in FIXED_DAYS.items():
        text = re.sub(rf"\b(?:{name})\b", fixed, text)
    words = [word for word in text.split() if word not in ("the", "of", "on", "den", "am")]
    return _read_weekday(words, today) or _read_words(words, today)


def _read_numbers(found: re.Match[str]) -> date:
    """Days come first where points are written; with other signs it may be either."""
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    if found[2] == "." or first > 12 or first == second:
        return date(year, second, first)
    if second > 12:
        return date(year, first, second)
    raise Refused(
        f"{found[0]} could be {date(year, second, first)} or {date(year, first, second)}: "
        "write it in that form."
    )


def _read_weekday(words: list[str], today: date) -> date | None:
    if not words or (weekday := WEEKDAYS.get(words[-1])) is None:
        return None
    days = (weekday - today.weekday()) % 7
    match words[:-1]:
        case [] | ["next" | "coming" | "nächsten" | "kommenden"]:
            return today + timedelta(days=days or 7)
        case ["this" | "diesen"]:
            return today + timedelta(days=days)
        case ["last" | "letzten"]:
            return today + timedelta(days=days - 7)
    return None


def _read_words(words: list[str], today: date) -> date | None:
    """Reads `19 november 2026`, `nov 19th` and `thursday 19. november`."""
    if words and words[0] in WEEKDAYS:
        words = words[1:]
    months = [MONTHS[word.rstrip(".")] for word in words if word.rstrip(".") in MONTHS]
    days = [int(found[1]) for word in words if (found := DAY.fullmatch(word))]
    years = [int(word) for word in words if re.fullmatch(r"\d{4}", word)]
    if len(months) != 1 or len(days) != 1 or len(months) + len(days) + len(years) != len(words):
        return None
    month, day = months[0], days[0]
    if years:
        return date(years[0], month, day)
    year = today.year + ((month, day) < (today.month, today.day))
    if (month, day) == (2, 29):
        year = next(one for one in range(year, year + 9) if calendar.isleap(one))
    return date(year, month, day)


def read_time(text: str) -> tuple[time, str]:
    """Reads `15:00`, `3 pm` or `tomorrow at noon`, and returns what is written beside it, such as a
    date. Raises Refused."""
    cleaned = re.sub(r"(?<=\d)t(?=\d)", " ", text.casefold())
    cleaned = cleaned.replace("a.m.", "am").replace("p.m.", "pm")
    found = CLOCK.search(cleaned)
    if found is None:
        raise Refused(f"{text[:60]!r} is not understood as a time. Write it as 15:00 or 3 pm.")
    rest = f"{cleaned[: found.start()]} {cleaned[found.end() :]}".strip(" ,")
    return _read_clock(text, found), re.sub(r"^(?:at|on|um)\b|\b(?:at|on|um)$", "", rest).strip()


def _read_clock(text: str, found: re.Match[str]) -> time:
    if found[0] in ("noon", "midnight"):
        return time(12 if found[0] == "noon" else 0)
    hour, minute, second = int(found[1] or found[4]), int(found[2] or 0), int(found[3] or 0)
    half = found[5]
    if half in ("am", "pm"):
        if not 1 <= hour <= 12:
            raise Refused(f"There is no time {text[:60]!r}: am and pm go up to 12.")
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        return time(hour, minute, second)
    except ValueError:
        raise Refused(f"There is no time {text[:60]!r}: it goes from 0:00 to 23:59.") from None


class Duration(NamedTuple):
    """Whole days. What it adds in months comes first, what it adds in business days last."""

    months: int = 0
    days: int = 0
    business_days: int = 0


def read_duration(text: str) -> Duration:
    """Reads `3 weeks`, `-10 business days`, `1 year and 2 months`, `2 days ago`. Raises Refused."""
    cleaned = " ".join(re.sub(r",|\band\b|\bund\b", " ", text.casefold()).split())
    cleaned, num_ago = re.subn(r" (?:ago|earlier|before)$", "", cleaned.removeprefix("in "))
    months = days = business_days = 0
    sign, at = 1, 0
    while at < len(cleaned):
        found = DURATION_PART.match(cleaned, at)
        if found is None:
            raise _not_a_duration(text)
        at = found.end()
        if found["sign"]:
            sign = -1 if found["sign"] == "-" else 1
        unit = "business days" if found["business"] else UNITS.get(found["unit"], "")
        count = sign * _read_count(found["count"], text)
        match unit:
            case "business days":
                business_days += count
            case "days" | "weeks":
                days += count * (7 if unit == "weeks" else 1)
            case "months" | "quarters" | "years":
                months += count * {"months": 1, "quarters": 3, "years": 12}[unit]
            case _:
                raise _not_a_duration(text)
    if not cleaned:
        raise _not_a_duration(text)
    back = -1 if num_ago else 1
    return Duration(back * months, back * days, back * business_days)


def _read_count(text: str, whole: str) -> int:
    if text.isdigit():
        return int(text)
    if text not in COUNTS:
        raise _not_a_duration(whole)
    return COUNTS[text]


def _not_a_duration(text: str) -> Refused:
    return Refused(
        f"{text[:60]!r} is not understood as a number of days. Write it as 45 days, 3 weeks, "
        "1 year 2 months, -10 days or 10 business days."
    )


def add_duration(start: date, duration: Duration) -> date:
    """A month later than 31 January is the last of February. Raises Refused."""
    try:
        end = add_months(start, duration.months) + timedelta(days=duration.days)
        return _add_business_days(end, duration.business_days)
    except (ValueError, OverflowError):
        raise Refused("The result is not between the years 1 and 9999.") from None


def add_months(start: date, num_months: int) -> date:
    year, month = divmod(start.year * 12 + start.month - 1 + num_months, 12)
    if not MINYEAR <= year <= MAXYEAR:
        raise ValueError(year)
    return date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1]))


def _add_business_days(start: date, num_days: int) -> date:
    """Counts from Monday to Friday."""
    step = 1 if num_days > 0 else -1
    while num_days and start.weekday() in WEEKEND:
        start -= timedelta(days=step)  # the first business day is the next one
    weeks, rest = divmod(abs(num_days), 5)
    end = start + timedelta(weeks=weeks * step)
    for _ in range(rest):
        end += timedelta(days=step)
        while end.weekday() in WEEKEND:
            end += timedelta(days=step)
    return end


def count_business_days(start: date, end: date) -> int:
    """Counts those after `start`, up to and with `end`."""
    weeks, rest = divmod((end - start).days, 7)
    days = (start + timedelta(days=number) for number in range(1, rest + 1))
    return weeks * 5 + sum(day.weekday() not in WEEKEND for day in days)


def count_months(start: date, end: date) -> tuple[int, int]:
    """Returns whole months, and the days after them."""
    months = (end.year - start.year) * 12 + end.month - start.month
    if add_months(start, months) > end:
        months -= 1
    return months, (end - add_months(start, months)).days


def write_date(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B} {day.year}"
