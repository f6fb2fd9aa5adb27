"""The tool `get_weather`: weather from a server that speaks Open-Meteo's API.

Two requests, one for the coordinates of the place and one for its weather. An administrator names
the servers.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Literal, TypeAlias, TypeVar

import httpx2
import msgspec
from msgspec import Meta

from hitsend.egress import Egress, Limits, parse_url
from hitsend.errors import Refused, Unavailable
from hitsend.settings import BadSetting, Settings
from hitsend.tools.hosted_tool import Call, HostedTool, hosted_tool
from hitsend.tools.places import country_code_of, fold_name

LIMITS = Limits(max_bytes=100_000, total_s=8.0, silence_s=5.0)
NUM_CANDIDATES = 10
"""Places of a name, of which the region chooses one."""
MAX_NAME_CHARS = 60
"""Of a name that the server tells."""

UnitSystem: TypeAlias = Literal["metric", "imperial"]

CURRENT = (
    "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,"
    "wind_speed_10m"
)
DAILY = (
    "weather_code,temperature_2m_min,temperature_2m_max,precipitation_sum,"
    "precipitation_probability_max,wind_speed_10m_max"
)
UNITS: Mapping[UnitSystem, Mapping[str, str]] = {
    "metric": {},
    "imperial": {
        "temperature_unit": "fahrenheit",
        "wind_speed_unit": "mph",
        "precipitation_unit": "inch",
    },
}
US_STATE_NAMES = (
    "AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, "
    "CT Connecticut, DE Delaware, DC District of Columbia, FL Florida, GA Georgia, "
    "HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, "
    "LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, "
    "MS Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, "
    "NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, "
    "OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, "
    "SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, "
    "VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming"
)
US_STATES: Mapping[str, str] = dict(re.findall(r"([A-Z]{2}) ([^,]+)", US_STATE_NAMES))
CONDITIONS = {
    0: "clear sky",
    1: "mainly clear",
    2: "partly cloudy",
    3: "overcast",
    45: "fog",
    48: "freezing fog",
    51: "light drizzle",
    53: "drizzle",
    55: "heavy drizzle",
    56: "light freezing drizzle",
    57: "freezing drizzle",
    61: "light rain",
    63: "rain",
    65: "heavy rain",
    66: "light freezing rain",
    67: "freezing rain",
    71: "light snow",
    73: "snow",
    75: "heavy snow",
    77: "snow grains",
    80: "light showers",
    81: "showers",
    82: "violent showers",
    85: "light snow showers",
    86: "heavy snow showers",
    95: "thunderstorm",
    96: "thunderstorm with light hail",
    99: "thunderstorm with heavy hail",
}
"""By the WMO's code of the weather."""

T = TypeVar("T")
Value: TypeAlias = float | None
"""None where the server has no value."""


class _Place(msgspec.Struct, frozen=True):
    name: str
    latitude: Annotated[float, Meta(ge=-90, le=90)]
    longitude: Annotated[float, Meta(ge=-180, le=180)]
    country: str = ""
    country_code: str = ""
    admin1: str = ""
    """The region, such as Oregon."""
    admin2: str = ""

    @property
    def label(self) -> str:
        region = [part for part in (self.admin1, self.country) if part and part != self.name]
        names = [_clean(name) for name in (self.name, *region)]
        return f"{names[0]} ({', '.join(names[1:])})" if region else names[0]


class _Places(msgspec.Struct, frozen=True):
    results: tuple[_Place, ...] = ()


class _Current(msgspec.Struct, frozen=True):
    time: str
    temperature_2m: Value = None
    apparent_temperature: Value = None
    relative_humidity_2m: Value = None
    precipitation: Value = None
    weather_code: int | None = None
    wind_speed_10m: Value = None


class _Daily(msgspec.Struct, frozen=True):
    time: tuple[date, ...]
    weather_code: tuple[int | None, ...]
    temperature_2m_min: tuple[Value, ...]
    temperature_2m_max: tuple[Value, ...]
    precipitation_sum: tuple[Value, ...]
    precipitation_probability_max: tuple[Value, ...]
    wind_speed_10m_max: tuple[Value, ...]


class _Forecast(msgspec.Struct, frozen=True):
    current: _Current
    daily: _Daily


class _Problem(msgspec.Struct, frozen=True):
    reason: str = ""


Where = Annotated[
    str, Meta(min_length=1, max_length=100, description="A city: Berlin, or Portland, Oregon.")
]
Days = Annotated[int, Meta(ge=1, le=14, description="Days to forecast, today included.")]


def build_weather_tool(settings: Settings, egress: Egress) -> HostedTool | None:
    """Returns None where no administrator has named a server. Raises BadSetting."""
    if settings.weather_url is None and settings.weather_places_url is None:
        return None
    if settings.weather_url is None or settings.weather_places_url is None:
        raise BadSetting(
            "`weather_url` and `weather_places_url` belong together: one of them is missing."
        )
    weather_url = _read_url("weather_url", settings.weather_url)
    places_url = _read_url("weather_places_url", settings.weather_places_url)
    servers = egress.trusting(weather_url).trusting(places_url)
    key = {"apikey": settings.weather_key} if settings.weather_key else {}

    async def find_place(text: str) -> _Place:
        name, _, region = (part.strip() for part in text.partition(","))
        query = {"name": name, "count": str(NUM_CANDIDATES), "language": "en", "format": "json"}
        url = _join(places_url, "v1/search", query | key)
        return _choose_place(text, region, (await _fetch(servers, url, _Places)).results)

    async def fetch_forecast(place: _Place, days: int, units: UnitSystem) -> _Forecast:
        query = {
            "latitude": f"{place.latitude:.4f}",
            "longitude": f"{place.longitude:.4f}",
            "current": CURRENT,
            "daily": DAILY,
            "timezone": "auto",
            "forecast_days": str(days),
        }
        url = _join(weather_url, "v1/forecast", {**query, **UNITS[units], **key})
        return await _fetch(servers, url, _Forecast)

    @hosted_tool("weather", is_untrusted=True)
    async def get_weather(
        call: Call, *, place: Where, days: Days = 3, units: UnitSystem = "metric"
    ) -> str:
        """Tells the weather now and the forecast for the next days.
        "Will it rain in Milan tomorrow?" place=Milan
        Also: "How is the weather in Dublin?", "Is it cold in Kyiv?"
        Also: "Do I need a coat in Prague?", "Forecast for Perth this week"
        """
        found = await find_place(place)
        forecast = await fetch_forecast(found, days, units)
        return _write_forecast(found, forecast, units, weather_url.host)

    return get_weather


def _read_url(name: str, text: str) -> httpx2.URL:
    try:
        return parse_url(text)
    except Refused as error:
        raise BadSetting(f"`{name}` is wrong: {error.message}") from None


def _join(base: httpx2.URL, path: str, query: Mapping[str, str]) -> httpx2.URL:
    return base.copy_with(path=f"{base.path.rstrip('/')}/{path}", params=query)


async def _fetch(servers: Egress, url: httpx2.URL, kind: type[T]) -> T:
    try:
        response = await servers.get(url, {"Accept": "application/json"}, limits=LIMITS)
    except Refused as error:  # the administrator's server is at fault, not the call
        raise Unavailable(f"The weather server did not answer properly: {error.message}") from None
    if response.status_code == 429:
        raise Unavailable("The weather server takes no more requests for now. Try again later.")
    if response.status_code != 200:
        raise Unavailable(
            f"The weather server answered {response.status_code}{_read_reason(response.content)}."
        )
    try:
        return msgspec.json.decode(response.content, type=kind)
    except (msgspec.DecodeError, RecursionError):
        raise Unavailable("The weather server's answer is not understood.") from None


def _read_reason(body: bytes) -> str:
    try:
        reason = msgspec.json.decode(body, type=_Problem).reason
    except (msgspec.DecodeError, RecursionError):
        return ""
    return f": {_clean(reason, 200).rstrip('.')}" if reason else ""


def _choose_place(text: str, region: str, found: Sequence[_Place]) -> _Place:
    """Takes the first in the region, since the server puts the likeliest first."""
    if not found:
        raise Refused(f"No place called {text!r} is known to the weather server.")
    if not region:
        return found[0]
    code = country_code_of(region)
    wanted = {fold_name(region), fold_name(US_STATES.get(region.upper(), region))}
    for place in found:
        names = (place.country, place.country_code, place.admin1, place.admin2)
        if code == place.country_code.upper() or wanted & {*map(fold_name, names)}:
            return place
    known = "; ".join(dict.fromkeys(place.label for place in found[:5]))
    raise Refused(f"No {text!r} is known to the weather server. It knows {known}.")


def _write_forecast(place: _Place, forecast: _Forecast, units: UnitSystem, host: str) -> str:
    degrees, speed, depth = ("°F", "mph", "in") if units == "imperial" else ("°C", "km/h", "mm")
    now, daily = forecast.current, forecast.daily
    parts = [
        _measure("", now.temperature_2m, degrees),
        _measure("feels like", now.apparent_temperature, degrees),
        _describe(now.weather_code),
        _measure("wind", now.wind_speed_10m, speed),
        _measure("humidity", now.relative_humidity_2m, "%"),
        _measure("precipitation", now.precipitation, depth),
    ]
    lines = [
        f"Weather in {place.label}, from {host}.",
        f"Now ({_clean(now.time)[-5:]} there): {_join_parts(parts)}.",
    ]
    for day, code, low, high, rain, chance, wind in zip(
        daily.time,
        daily.weather_code,
        daily.temperature_2m_min,
        daily.temperature_2m_max,
        daily.precipitation_sum,
        daily.precipitation_probability_max,
        daily.wind_speed_10m_max,
        strict=False,
    ):
        parts = [
            _describe(code),
            _measure("low", low, degrees),
            _measure("high", high, degrees),
            _measure("precipitation", rain, depth),
            _measure("chance of precipitation", chance, "%"),
            _measure("wind up to", wind, speed),
        ]
        lines.append(f"{day:%A}, {day.day} {day:%B}: {_join_parts(parts)}.")
    return "\n".join(lines)


def _join_parts(parts: Sequence[str]) -> str:
    return ", ".join(filter(None, parts)) or "no values"


def _measure(name: str, value: Value, unit: str) -> str:
    return "" if value is None else f"{name} {value:g} {unit}".strip()


def _describe(code: int | None) -> str:
    return CONDITIONS.get(code, "") if code is not None else ""


def _clean(text: str, max_chars: int = MAX_NAME_CHARS) -> str:
    """Strangers may have written it: one short line without control characters."""
    return "".join(char if char.isprintable() else " " for char in text)[:max_chars].strip()
