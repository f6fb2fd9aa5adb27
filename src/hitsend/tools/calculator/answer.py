"""Writes a result as text, and says where it is rounded."""

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from hitsend.tools.calculator.number import Number, exact, to_decimal
from hitsend.tools.calculator.parse import Result
from hitsend.tools.calculator.units import CURRENCY_SIGNS, Quantity

MAX_EXACT_DIGITS = 30
"""Of a decimal. A whole number may have more."""
MAX_WHOLE_DIGITS = 200
NUM_ROUNDED_DIGITS = 15
MAX_DENOMINATOR = 1000
"""A fraction with a larger one says little."""
MIN_EXPONENT, MAX_EXPONENT = -7, 21
"""Outside of these a rounded number is written as 1.5e30."""
ROUNDED = Context(prec=NUM_ROUNDED_DIGITS, Emax=999_999, Emin=-999_999, rounding=ROUND_HALF_EVEN)


class Written(NamedTuple):
    text: str
    is_rounded: bool


def write_answer(expression: str, result: Result) -> str:
    """Returns a line such as `1/3 ≈ 0.333333333333333 (rounded to 15 digits; exactly 1/3)`."""
    written = [_write_quantity(one, result) for one in result.parts]
    is_rounded = any(one.is_rounded for one in written)
    notes = [*_rounding_notes(result.parts) * is_rounded, *result.notes]
    sign = "≈" if is_rounded else "="
    text = f"{expression} {sign} {' '.join(one.text for one in written)}"
    return f"{text} ({'; '.join(notes)})" if notes else text


def _rounding_notes(parts: Sequence[Quantity]) -> list[str]:
    notes = [f"rounded to {NUM_ROUNDED_DIGITS} digits"]
    [*_, last] = parts
    value = last.number.value
    if len(parts) == 1 and last.number.is_exact and not last.is_percent:
        if value.denominator == 1:
            notes.append(f"the whole number has {len(str(abs(value.numerator)))} digits")
        elif value.denominator <= MAX_DENOMINATOR and abs(value) < 10**9:
            notes.append(f"exactly {value}")
    return notes


def _write_quantity(quantity: Quantity, result: Result) -> Written:
    number, unit = quantity.number, quantity.unit
    if quantity.is_percent:
        text, is_rounded = write_number(number * exact(100))
        return Written(f"{text}%", is_rounded)
    if result.base:
        return Written(format(number.value.numerator, f"#{result.base}"), not number.is_exact)
    if result.is_fraction and number.is_exact:
        text, is_rounded = str(number.value), False
    else:
        text, is_rounded = write_number(number)
    if str(unit) in CURRENCY_SIGNS:
        return Written(_write_money(text, str(unit)), is_rounded)
    space = "" if str(unit) in ("", "°") else " "
    return Written(f"{text}{space}{unit}", is_rounded)


def _write_money(amount: str, sign: str) -> str:
    whole, point, cents = amount.partition(".")
    amount = f"{whole}{point}{cents.ljust(2, '0')}" if point else whole
    minus = "-" if amount.startswith("-") else ""
    return f"{minus}{sign}{amount.removeprefix('-')}"


def write_number(number: Number) -> Written:
    value = number.value
    if number.is_exact and (exact := _write_exactly(value)):
        return Written(exact, False)
    rounded = ROUNDED.plus(to_decimal(value)).normalize(ROUNDED)
    is_rounded = not number.is_exact or Fraction(rounded) != value
    if MIN_EXPONENT <= rounded.adjusted() <= MAX_EXPONENT:
        return Written(f"{rounded:f}", is_rounded)
    return Written(f"{rounded:e}".replace("+", ""), is_rounded)


def _write_exactly(value: Fraction) -> str:
    """Returns nothing where the digits do not end, or are too many."""
    if value.denominator == 1:
        text = str(value.numerator)
        return text if len(text) <= MAX_WHOLE_DIGITS else ""
    twos_and_fives = value.denominator
    for factor in (2, 5):
        while twos_and_fives % factor == 0:
            twos_and_fives //= factor
    if twos_and_fives != 1:
        return ""
    context = Context(prec=MAX_EXACT_DIGITS)
    decimal = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{decimal:f}" if Fraction(decimal) == value else ""
