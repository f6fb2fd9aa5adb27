"""Time zones by the names of places: IANA names, countries, cities, abbreviations, offsets.

The tables of tzdata name the zones and the countries. A city that has no zone of its own is in
CITIES.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from importlib import resources
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hitsend.errors import Refused

CITIES = {
    "Africa/Johannesburg": "Cape Town, Durban, Pretoria",
    "Africa/Lagos": "Abuja",
    "America/Argentina/Buenos_Aires": "Argentina",
    "America/Bogota": "Medellin",
    "America/Chicago": "Austin, Central, CST, CDT, Dallas, Houston, Illinois, Kansas City, "
    "Memphis, Milwaukee, Minneapolis, Minnesota, Nashville, New Orleans, Oklahoma City, "
    "San Antonio, St Louis, Texas, Wisconsin",
    "America/Denver": "Albuquerque, Colorado, Mountain, MST, MDT, Salt Lake City, Utah",
    "America/Edmonton": "Alberta, Calgary",
    "America/Halifax": "Atlantic",
    "America/Los_Angeles": "California, Las Vegas, Nevada, Oakland, Oregon, Pacific, Portland, "
    "PST, PDT, PT, Sacramento, San Diego, San Francisco, San Jose, Seattle, Silicon Valley",
    "America/Mexico_City": "Guadalajara, Puebla",
    "America/New_York": "Atlanta, Baltimore, Boston, Charlotte, Cleveland, Columbus, Eastern, EST, "
    "EDT, ET, Florida, Massachusetts, Miami, New Jersey, NYC, Orlando, Philadelphia, Pittsburgh, "
    "Tampa, Washington, Washington DC",
    "America/Phoenix": "Arizona",
    "America/Puerto_Rico": "San Juan",
    "America/Sao_Paulo": "Belo Horizonte, Brasilia, Rio, Rio de Janeiro, Salvador",
    "America/Toronto": "Montreal, Ontario, Ottawa, Quebec",
    "America/Vancouver": "British Columbia, Victoria",
    "Asia/Dubai": "Abu Dhabi, Emirates, UAE",
    "Asia/Ho_Chi_Minh": "Hanoi",
    "Asia/Jakarta": "Bandung, Java",
    "Asia/Jerusalem": "Haifa",
    "Asia/Karachi": "Islamabad, Lahore",
    "Asia/Kolkata": "Ahmedabad, Bangalore, Bengaluru, Bombay, Chennai, Delhi, Hyderabad, IST, "
    "Mumbai, New Delhi, Pune",
    "Asia/Makassar": "Bali",
    "Asia/Riyadh": "Jeddah, Mecca",
    "Asia/Seoul": "Busan, KST, Korea",
    "Asia/Shanghai": "Beijing, China, Chengdu, Guangzhou, Hangzhou, Peking, Shenzhen, Wuhan",
    "Asia/Taipei": "Taiwan",
    "Asia/Tokyo": "JST, Kobe, Kyoto, Nagoya, Osaka, Sapporo, Yokohama",
    "Atlantic/Canary": "Canary Islands, Gran Canaria, Tenerife",
    "Australia/Brisbane": "Gold Coast, Queensland",
    "Australia/Sydney": "AEST, AEDT, Canberra, New South Wales",
    "Europe/Athens": "EET, Thessaloniki",
    "Europe/Berlin": "CET, CEST, Bremen, Cologne, Dortmund, Dresden, Duesseldorf, Dusseldorf, "
    "Essen, Frankfurt, Hamburg, Hanover, Hannover, Koeln, Koln, Leipzig, Muenchen, Munchen, "
    "Munich, Nuernberg, Nuremberg, Nurnberg, Stuttgart",
    "Europe/Brussels": "Antwerp, Bruges, Ghent",
    "Europe/Istanbul": "Ankara, Izmir",
    "Europe/Lisbon": "Porto",
    "Europe/London": "BST, Birmingham, Bristol, Cambridge, Cardiff, Edinburgh, England, Glasgow, "
    "Great Britain, Leeds, Liverpool, Manchester, Oxford, Scotland, United Kingdom, Wales",
    "Europe/Madrid": "Barcelona, Bilbao, Seville, Valencia",
    "Europe/Moscow": "MSK, Saint Petersburg, St Petersburg",
    "Europe/Paris": "Bordeaux, Lyon, Marseille, Nice, Toulouse",
    "Europe/Prague": "Brno, Czechia",
    "Europe/Rome": "Florence, Milan, Naples, Rom, Turin, Venice",
    "Europe/Vienna": "Graz, Innsbruck, Salzburg, Wien",
    "Europe/Warsaw": "Gdansk, Krakow, Wroclaw",
    "Europe/Zurich": "Basel, Bern, Geneva, Lausanne",
    "Pacific/Auckland": "Christchurch, Wellington",
    "Pacific/Honolulu": "Hawaii, HST",
    "UTC": "GMT, Z, Zulu",
}
COUNTRY_NAMES = {
    "AE": "UAE, Emirates",
    "CZ": "Czechia",
    "GB": "England, Great Britain, Scotland, United Kingdom, Wales",
    "NL": "Holland",
    "US": "USA, US, America, United States of America",
}
"""Other names of countries."""
MAIN_PART = re.compile("most of|mainland")
"""How zone.tab marks the part of a country that people mean by its name."""
OFFSET = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
FILLERS = re.compile(r"\b(?:city|the|time ?zone|time)\b")


class Place(NamedTuple):
    name: str
    zones: tuple[tzinfo, ...]
    """Several for a country that spans them."""


def find_place(text: str) -> Place:
    """Raises Refused if no place of this name is known."""
    place = look_up_place(text)
    if place is None:
        raise Refused(
            f"No place called {text[:60]!r} is known here. Name a large city near it, the country, "
            "or a time zone such as Europe/Berlin."
        )
    return place


def look_up_place(text: str) -> Place | None:
    text = text.strip()
    if offset := OFFSET.fullmatch(text):
        return _read_offset(offset)
    known, name = _zones_by_name(), fold_name(text)
    if zones := known.get(name) or known.get(fold_name(FILLERS.sub("", name))):
        return Place(text, tuple(map(ZoneInfo, zones)))
    city, comma, region = text.partition(",")
    return (look_up_place(city) or look_up_place(region)) if comma else None


def find_zone(text: str) -> tzinfo:
    """Finds the time zone of a place that has one."""
    place = find_place(text)
    if len(place.zones) > 1:
        cities = ", ".join(city_of(str(zone)) for zone in place.zones[:6])
        raise Refused(f"{place.name} has several time zones. Name a city, such as {cities}.")
    return place.zones[0]


def zone_of(name: str) -> tzinfo:
    """Returns the zone that a browser named, or UTC if it is not known here."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def city_of(zone: str) -> str:
    return zone.rpartition("/")[2].replace("_", " ")


def country_code_of(name: str) -> str | None:
    """Returns the two letters of a country, such as DE."""
    return _codes_by_name().get(fold_name(name))


def fold_name(name: str) -> str:
    """Leaves out case, accents and signs."""
    letters = [c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)]
    return " ".join(re.findall(r"[a-z0-9+]+", "".join(letters).casefold()))


def _read_offset(found: re.Match[str]) -> Place | None:
    sign, hours, minutes = found.groups(default="0")
    offset = timedelta(hours=int(hours), minutes=int(minutes))
    if offset >= timedelta(hours=24):
        return None
    zone = timezone(-offset if sign == "-" else offset)
    return Place(str(zone), (zone,))


@cache
def _zones_by_name() -> Mapping[str, tuple[str, ...]]:
    """By folded name. Where several places have a name, the first keeps it."""
    found: dict[str, tuple[str, ...]] = {}
    for name, zones in (*_cities(), *_countries(), *_zones()):
        found.setdefault(fold_name(name), zones)
    return found


@cache
def _codes_by_name() -> Mapping[str, str]:
    countries = _read_table("iso3166.tab")
    return {
        fold_name(one): code for code, name in countries for one in _names_of_country(code, name)
    }


def _cities() -> Iterator[tuple[str, tuple[str, ...]]]:
    for zone, names in CITIES.items():
        yield from ((name, (zone,)) for name in names.split(","))


def _countries() -> Iterator[tuple[str, tuple[str, ...]]]:
    zones: dict[str, list[str]] = {}
    main_zones: dict[str, str] = {}
    for code, _, zone, *comment in _read_table("zone.tab"):
        zones.setdefault(code, []).append(zone)
        if MAIN_PART.search("".join(comment)):
            main_zones[code] = zone
    for code, name in _read_table("iso3166.tab"):
        own = [main_zones[code]] if code in main_zones else zones.get(code, [])
        own.sort(key=lambda zone: zone not in CITIES)  # those of the largest cities first
        yield from ((one, tuple(own)) for one in _names_of_country(code, name) if one and own)


def _names_of_country(code: str, name: str) -> Iterator[str]:
    """Britain (UK) is called so, Britain and UK; Korea (South) also South Korea."""
    yield name
    if found := re.fullmatch(r"(.+) \((.+)\)", name):
        yield from (f"{found[2]} {found[1]}", found[1], found[2])
    yield from COUNTRY_NAMES.get(code, "").split(",")


def _zones() -> Iterator[tuple[str, tuple[str, ...]]]:
    current = [zone for _, _, zone, *_ in _read_table("zone.tab")]
    for zone in (*current, *_read_lines("zones")):
        yield zone, (zone,)
        yield city_of(zone), (zone,)


def _read_table(name: str) -> Iterator[list[str]]:
    lines = _read_lines(f"zoneinfo/{name}")
    return (line.split("\t") for line in lines if not line.startswith("#"))


def _read_lines(name: str) -> list[str]:
    return resources.files("tzdata").joinpath(name).read_text("utf-8").splitlines()
