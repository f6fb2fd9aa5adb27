"""Units, and quantities: numbers with a unit. Conversions are exact where the definitions are."""

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from hitsend.errors import Refused
from hitsend.tools.calculator.number import ONE, PI, Number, exact, map_fraction

Dimensions: TypeAlias = Mapping[str, int]
"""Powers of base quantities, such as `{"length": 1, "time": -1}`. None of them is 0."""

MAX_POWER = 12
"""Of a unit."""


class NamedUnit(NamedTuple):
    symbol: str
    scale: Number
    """Base units in one of it."""
    dimensions: tuple[tuple[str, int], ...]
    zero: Fraction = Fraction(0)
    """Its zero in base units: temperatures do not begin at the same one."""
    note: str = ""


class Unit:
    """A product of powers of named units, such as km/h. An empty one is that of a plain number."""

    def __init__(self, powers: Mapping[NamedUnit, int]) -> None:
        self.powers = {one: power for one, power in powers.items() if power}

    def __bool__(self) -> bool:
        return bool(self.powers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unit) and self.powers == other.powers

    def __hash__(self) -> int:
        return hash(frozenset(self.powers.items()))

    def __str__(self) -> str:
        above = [_format_power(one, power) for one, power in self.powers.items() if power > 0]
        below = [_format_power(one, -power) for one, power in self.powers.items() if power < 0]
        text = "·".join(above)
        if not below:
            return text
        text = text or "1"
        return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'·'.join(below)})"

    def __mul__(self, other: "Unit") -> "Unit":
        every = [*self.powers, *other.powers]
        return Unit({one: self.powers.get(one, 0) + other.powers.get(one, 0) for one in every})

    def __pow__(self, exponent: int) -> "Unit":
        return Unit({one: power * exponent for one, power in self.powers.items()})

    @property
    def scale(self) -> Number:
        scales = (one.scale ** exact(power) for one, power in self.powers.items())
        return math.prod(scales, start=ONE)

    @property
    def zero(self) -> Fraction:
        return next(iter(self.powers)).zero if [*self.powers.values()] == [1] else Fraction(0)

    @property
    def dimensions(self) -> Dimensions:
        total: dict[str, int] = {}
        for one, power in self.powers.items():
            for name, exponent in one.dimensions:
                total[name] = total.get(name, 0) + exponent * power
        return {name: exponent for name, exponent in total.items() if exponent}

    @property
    def is_temperature(self) -> bool:
        """Whether its zero is not that of its kind, as in °C."""
        return any(one.zero for one in self.powers)

    @property
    def is_money(self) -> bool:
        return self.measures == "money"

    @property
    def measures(self) -> str:
        """What it measures, in words."""
        return KINDS_BY_DIMENSIONS.get(_as_key(self.dimensions), "something else")


PLAIN = Unit({})


class Quantity(NamedTuple):
    number: Number
    unit: Unit = PLAIN
    is_percent: bool = False

    def convert(self, unit: Unit) -> "Quantity":
        if self.unit == unit:
            return self
        wanted, own = unit.dimensions, self.unit.dimensions
        if wanted == ANGLE and not own:
            return Quantity(self.number, Unit({RADIAN: 1})).convert(unit)
        if own and wanted == {name: -power for name, power in own.items()}:
            return divide(Quantity(ONE), self).convert(unit)  # miles per gallon, L/100 km
        if wanted != own:
            raise Refused(_explain_mismatch(self.unit, unit))
        base = self.number * self.unit.scale + Number(self.unit.zero)
        return Quantity((base - Number(unit.zero)) / unit.scale, unit)

    def to_plain(self, where: str) -> Number:
        """Returns the number of a quantity without a unit."""
        if self.unit:
            raise Refused(f"{where} takes a number without a unit, not one in {self.unit}.")
        return self.number


def negate(one: Quantity) -> Quantity:
    return one._replace(number=-one.number)


def add(one: Quantity, other: Quantity) -> Quantity:
    """To add a percentage means to add that share: 80 + 15% is 92."""
    if other.is_percent and not one.is_percent:
        return one._replace(number=one.number * (ONE + other.number))
    _refuse_temperatures(one.unit, other.unit)
    total = one.number + other.convert(one.unit).number
    return Quantity(total, one.unit, one.is_percent and other.is_percent)


def multiply(one: Quantity, other: Quantity) -> Quantity:
    _refuse_temperatures(one.unit, other.unit)
    return _merge_alike(one.number * other.number, one.unit * other.unit)


def divide(one: Quantity, other: Quantity) -> Quantity:
    _refuse_temperatures(one.unit, other.unit)
    return _merge_alike(one.number / other.number, one.unit * other.unit**-1)


def floor_divide(one: Quantity, other: Quantity) -> Quantity:
    ratio = divide(one, other)
    return ratio._replace(number=map_fraction(math.floor, ratio.number))


def remainder(one: Quantity, other: Quantity) -> Quantity:
    return Quantity(one.number % other.convert(one.unit).number, one.unit)


def power(base: Quantity, exponent: Quantity) -> Quantity:
    number = exponent.to_plain("An exponent")
    _refuse_temperatures(base.unit)
    if not base.unit:
        return Quantity(base.number**number)
    powers = {one: own * number.value for one, own in base.unit.powers.items()}
    if any(one.denominator != 1 or abs(one) > MAX_POWER for one in powers.values()):
        raise Refused(f"The unit {base.unit} cannot be raised to this power.")
    unit = Unit({one: whole.numerator for one, whole in powers.items()})
    return Quantity(base.number**number, unit)


def _merge_alike(number: Number, unit: Unit) -> Quantity:
    """Expresses m in km where both are in the product: km·m is km², and km/m is 1000."""
    merged: dict[NamedUnit, int] = {}
    for one, power in unit.powers.items():
        alike = next((kept for kept in merged if kept.dimensions == one.dimensions), one)
        number *= (one.scale / alike.scale) ** exact(power)
        merged[alike] = merged.get(alike, 0) + power
    unit = Unit(merged)
    return Quantity(number, unit) if unit.dimensions else Quantity(number * unit.scale)


def _refuse_temperatures(*units: Unit) -> None:
    if any(unit.is_temperature for unit in units):
        raise Refused(
            "Temperatures in °C or °F can be converted, but not added or multiplied: "
            "leave out the unit, or use K."
        )


def _explain_mismatch(unit: Unit, wanted: Unit) -> str:
    if not unit:
        return f"A number without a unit cannot be converted to {wanted}."
    if not wanted:
        return f"A number in {unit} does not go with a number without a unit."
    if unit.is_money and wanted.is_money:
        return f"{unit} cannot be converted to {wanted}: exchange rates are not known here."
    return (
        f"{unit} measures {unit.measures} and {wanted} measures {wanted.measures}: "
        "they do not go together."
    )


def _format_power(one: NamedUnit, power: int) -> str:
    return one.symbol if power == 1 else f"{one.symbol}^{power}"


def _as_key(dimensions: Dimensions) -> frozenset[tuple[str, int]]:
    return frozenset(dimensions.items())


ANGLE: Dimensions = {"angle": 1}

DEFINITIONS = """
length: length
m = 1 = meter, metre = k h d c m µ n M
in = 0.0254 = inch, inches, "
ft = 0.3048 = foot, feet, '
yd = 0.9144 = yard
mi = 1609.344 = mile
nmi = 1852 = nautical mile, sea mile
au = 149597870700 = astronomical unit
ly = 9460730472580800 = light year, lightyear

area: length^2
ha = 10000 = hectare
acre = 4046.8564224

volume: length^3
L = 1/1000 = l, liter, litre = h d c m µ
cc = 1/1000000
US gal = 0.003785411784 = gal, gallon
US qt = 0.000946352946 = qt, quart
US pt = 0.000473176473 = pt, pint
US cup = 0.0002365882365 = cup
US fl oz = 0.0000295735295625 = fl oz, floz, fluid ounce
tbsp = 0.00001478676478125 = tablespoon
tsp = 0.00000492892159375 = teaspoon
imperial gal = 0.00454609 = imp gal, imperial gallon, uk gallon
imperial pt = 0.00056826125 = imp pt, imperial pint, uk pint
imperial fl oz = 0.0000284130625 = imperial fluid ounce
bbl = 0.158987294928 = barrel

mass: mass
kg = 1 = kilo, kilogram
g = 1/1000 = gram, gramme = m µ n M
t = 1000 = tonne, metric ton
lb = 0.45359237 = lbs, pound
oz = 0.028349523125 = ounce
st = 6.35029318 = stone
short ton = 907.18474 = us ton
long ton = 1016.0469088 = uk ton, imperial ton
troy oz = 0.0311034768 = troy ounce
ct = 0.0002 = carat

time: time
s = 1 = sec, second = m µ n M
min = 60 = minute
h = 3600 = hr, hour
d = 86400 = day
wk = 604800 = week
mo = 2629746 = month
yr = 31556952 = y, year
decade = 315569520
century = 3155695200 = centuries

speed: length time^-1
km/h = 5/18 = kmh, kph, kmph
mph = 0.44704
kn = 463/900 = knot, kt
Mach = 340.3 = mach

data: data
B = 8 = byte, octet = k M G T P
bit = 1 = = k M G T P
b = 1 = = M G T P
KiB = 8192 = kibibyte
MiB = 8388608 = mebibyte
GiB = 8589934592 = gibibyte
TiB = 8796093022208 = tebibyte

data rate: data time^-1
bps = 1 = = k M G T
Bps = 8 = = k M G T

energy: mass length^2 time^-2
J = 1 = joule = k M G T m
Wh = 3600 = watt hour, watthour = k M G T
cal = 4.184 = calorie = k
eV = 1.602176634e-19 = electronvolt = k M G
BTU = 1055.05585262 = british thermal unit

power: mass length^2 time^-3
W = 1 = watt = k M G T m
hp = 745.69987158227022 = horsepower
PS = 735.49875 = metric horsepower

force: mass length time^-2
N = 1 = newton = k M m
lbf = 4.4482216152605 = pound force
kgf = 9.80665

pressure: mass length^-1 time^-2
Pa = 1 = pascal = h k M G
bar = 100000 = = m
atm = 101325 = atmosphere
psi = 6894.757293168361
mmHg = 133.322387415
Torr = 101325/760

frequency: time^-1
Hz = 1 = hertz = k M G
rpm = 1/60

current: current
A = 1 = amp, ampere = m µ

charge: current time
Ah = 3600 = amp hour = m

voltage: mass length^2 time^-3 current^-1
V = 1 = volt = m k

resistance: mass length^2 time^-3 current^-2
Ω = 1 = ohm = m k M

temperature: temperature
K = 1 = kelvin
°C = 1 273.15 = C, c, celsius, centigrade, degC
°F = 5/9 45967/180 = F, f, fahrenheit, degF

angle: angle
turn = 1 = revolution
° = 1/360 = deg, degree
arcmin = 1/21600 = arcminute
arcsec = 1/1296000 = arcsecond

fuel consumption: length^2
L/100 km = 1e-8 = l/100km, liters per 100 km

fuel economy: length^-2
mpg = 1609.344/0.003785411784 = miles per gallon
"""
"""Of each kind of quantity: its dimensions, then units. A unit has a symbol, its size in base units
(and its zero), names, and prefixes."""

CURRENCIES = """
$ = usd, dollar, us dollar
€ = eur, euro
£ = gbp
¥ = jpy, yen
₹ = inr, rupee
CHF = franc, swiss franc
CNY = yuan, rmb
CAD = canadian dollar
AUD = australian dollar
BRL = real
KRW = won
PLN = zloty
SEK =
NOK =
DKK =
"""
CURRENCY_SIGNS = ("$", "€", "£", "¥", "₹")
PREFIXES = {
    "P": ("peta", 15),
    "T": ("tera", 12),
    "G": ("giga", 9),
    "M": ("mega", 6),
    "k": ("kilo", 3),
    "h": ("hecto", 2),
    "d": ("deci", -1),
    "c": ("centi", -2),
    "m": ("milli", -3),
    "µ": ("micro", -6),
    "n": ("nano", -9),
}
NOTES = {
    "mo": "a month is a twelfth of a year of 365.2425 days",
    "yr": "a year is 365.2425 days on average",
    "decade": "a year is 365.2425 days on average",
    "century": "a year is 365.2425 days on average",
    "Mach": "Mach 1 at 15 °C is 340.3 m/s",
}
AMBIGUOUS = {
    "ton": "a short ton, a long ton or a tonne",
    "k": "kelvin (`K`) or a thousand (`thousand`)",
}


def find_unit(name: str) -> NamedUnit | None:
    """Finds a unit by its symbol, in which case matters, or by its name."""
    folded = name.casefold()
    if (meanings := AMBIGUOUS.get(folded.removesuffix("s"))) and name not in UNITS:
        raise Refused(f"`{name}` could mean {meanings}: write which one.")
    if (found := UNITS.get(name)) or len(name) == 1:
        return found
    singular = folded.removesuffix("s") if len(folded) > 2 else folded
    return FOLDED_UNITS.get(folded) or FOLDED_UNITS.get(singular)


def _read_definitions() -> Iterator[tuple[str, NamedUnit]]:
    """Yields every symbol and name with its unit."""
    dimensions = RADIAN.dimensions
    for line in DEFINITIONS.strip().splitlines():
        if ":" in line:
            _, _, text = line.partition(":")
            dimensions = tuple(_read_dimensions(text))
        elif line:
            yield from _read_unit(line, dimensions)
    yield from _name_unit(RADIAN, ["radian"], "")
    for line in CURRENCIES.strip().splitlines():
        symbol, _, names = line.partition(" =")
        yield from _name_unit(NamedUnit(symbol, ONE, ((symbol, 1),)), _split(names), "")


def _read_unit(
    line: str, dimensions: tuple[tuple[str, int], ...]
) -> Iterator[tuple[str, NamedUnit]]:
    symbol, size, names, prefixes = [part.strip() for part in f"{line} = =".split("=")[:4]]
    scale, zero = [*map(_read_fraction, size.split()), Fraction(0)][:2]
    unit = NamedUnit(symbol, Number(scale), dimensions, zero, NOTES.get(symbol, ""))
    yield from _name_unit(unit, _split(names), prefixes)


def _name_unit(
    unit: NamedUnit, names: Iterable[str], prefixes: str
) -> Iterator[tuple[str, NamedUnit]]:
    """Symbols and names of up to two letters take the short form of a prefix."""
    yield from ((name, unit) for name in (unit.symbol, *names))
    for short in prefixes.split():
        long, exponent = PREFIXES[short]
        scale = unit.scale * Number(Fraction(10) ** exponent)
        prefixed = unit._replace(symbol=short + unit.symbol, scale=scale)
        for name in (unit.symbol, *names):
            yield (short if len(name) < 3 or name == unit.symbol else long) + name, prefixed
            if short == "µ" and name == unit.symbol:
                yield "u" + name, prefixed


def _read_dimensions(text: str) -> Iterator[tuple[str, int]]:
    for one in text.split():
        name, _, exponent = one.partition("^")
        yield name, int(exponent or 1)


def _read_fraction(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or 1)


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


RADIAN = NamedUnit("rad", Number(Fraction(1) / (2 * Fraction(PI)), is_exact=False), (("angle", 1),))
UNITS: Mapping[str, NamedUnit] = dict(reversed([*_read_definitions()]))
FOLDED_UNITS: Mapping[str, NamedUnit] = {
    name.casefold(): one for name, one in reversed([*UNITS.items()])
}
KINDS_BY_DIMENSIONS: Mapping[frozenset[tuple[str, int]], str] = {
    frozenset(_read_dimensions(text)): kind
    for kind, _, text in (line.partition(":") for line in DEFINITIONS.splitlines() if ":" in line)
} | {frozenset({(line.split(" ")[0], 1)}): "money" for line in CURRENCIES.strip().splitlines()}
