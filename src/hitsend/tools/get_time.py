"""The tool `get_time`."""

import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated

from msgspec import Meta

from hitsend.errors import Refused
from hitsend.tools.calculate_date import Clock
from hitsend.tools.dates import read_date, read_time, write_date
from hitsend.tools.hosted_tool import Call, HostedTool, hosted_tool
from hitsend.tools.places import Place, city_of, find_place, find_zone, look_up_place, zone_of

Where = Annotated[
    str,
    Meta(max_length=100, description="City, country or time zone. Empty: where the person is."),
]
When = Annotated[
    str,
    Meta(max_length=100, description="A time to convert: 15:00 or 2026-11-20 9:30. Empty: now."),
]
Origin = Annotated[
    str, Meta(max_length=100, description="Where `time` is. Empty: where the person is.")
]


def make_get_time(now: Clock = time.time) -> HostedTool:
    @hosted_tool("time")
    async def get_time(
        call: Call, *, place: Where = "", time: When = "", from_place: Origin = ""
    ) -> str:
        """Tells the date and time now in a place, or converts a time between places.
        "What time is it in Lisbon?" place=Lisbon
        "It is 3 pm in Rome. What time is it in Boston?" place=Boston, time=15:00, from_place=Rome
        Also: "What time is it?", "Which day is it today?", "Is it morning or night in Dubai?"
        Also: "How late is it?"
        """
        own = zone_of(call.time_zone)
        wanted = find_place(place) if place.strip() else Place("", (own,))
        utc_now = datetime.fromtimestamp(now(), UTC)
        if time.strip().casefold() in ("", "now"):
            return _tell_now(utc_now, wanted, own)
        return _convert(_read_moment(time, from_place, own, utc_now), wanted)

    return get_time


def _tell_now(utc_now: datetime, place: Place, own: tzinfo) -> str:
    lines = []
    for zone in _distinct_zones(place, utc_now):
        there, here = utc_now.astimezone(zone), utc_now.astimezone(own)
        name = place.name if len(place.zones) == 1 else city_of(str(zone))
        where = f"In {name} it" if name else "It"
        distance = _describe_distance(_offset(there) - _offset(here))
        lines.append(f"{where} is {_write(there)} ({_describe_zone(there)}){distance}.")
    return "\n".join(lines)


def _convert(moment: datetime, place: Place) -> str:
    origin = f"{_write(moment)} in {city_of(str(moment.tzinfo))} ({_describe_zone(moment)})"
    lines = []
    for zone in _distinct_zones(place, moment):
        there = _shift(moment, zone)
        name = city_of(str(zone)) if len(place.zones) > 1 else place.name or city_of(str(zone))
        lines.append(f"{origin} is {_write(there)} in {name} ({_describe_zone(there)}).")
    if _offset(moment.replace(fold=1)) != _offset(moment):
        lines.append("The clocks show this time twice on that day: the first one was taken.")
    return "\n".join(lines)


def _read_moment(text: str, from_place: str, own: tzinfo, utc_now: datetime) -> datetime:
    with suppress(ValueError):
        exact = datetime.fromisoformat(text.strip())
        if exact.tzinfo is not None:
            return exact
    text, _, named = text.partition(" in ")
    clock, rest = read_time(text)
    origin = from_place.strip() or named.strip()
    if not origin and look_up_place(rest):
        origin, rest = rest, ""
    zone = find_zone(origin) if origin else own
    today = utc_now.astimezone(zone).date()
    moment = datetime.combine(read_date(rest, today) if rest else today, clock, zone)
    if _shift(_shift(moment, UTC), zone).time() != clock:
        raise Refused(
            f"{_write(moment)} does not exist in {city_of(str(zone))}: the clocks skip it."
        )
    return moment


def _shift(moment: datetime, zone: tzinfo) -> datetime:
    try:
        return moment.astimezone(zone)
    except OverflowError:
        raise Refused("The time is not between the years 1 and 9999.") from None


def _distinct_zones(place: Place, moment: datetime) -> Iterable[tzinfo]:
    """Returns the zones whose clocks differ at that moment."""
    by_offset: dict[timedelta, tzinfo] = {}
    for zone in place.zones:
        by_offset.setdefault(_offset(_shift(moment, zone)), zone)
    return by_offset.values()


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta()


def _describe_zone(moment: datetime) -> str:
    """Returns the zone's name, its abbreviation and its offset: `Asia/Tokyo, JST, UTC+9`."""
    minutes = int(_offset(moment).total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "-" if minutes < 0 else "+"
    offset = f"UTC{sign}{hours}" + (f":{rest:02}" if rest else "")
    abbreviation = moment.tzname() or ""
    names = [str(moment.tzinfo), abbreviation] if abbreviation.isalpha() else [str(moment.tzinfo)]
    return ", ".join(dict.fromkeys([*names, offset if minutes else "UTC"]))


def _describe_distance(distance: timedelta) -> str:
    if not distance:
        return ""
    hours = f"{abs(distance.total_seconds()) / 3600:g}"
    direction = "ahead of" if distance > timedelta() else "behind"
    return f", {hours} hour{'' if hours == '1' else 's'} {direction} the person's time"


def _write(moment: datetime) -> str:
    return f"{moment:%H:%M} on {write_date(moment.date())}"
