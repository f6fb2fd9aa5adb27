"""Real numbers: fractions, exact where they can be, else rounded to fifty digits.

Every operation is bounded: a result with more than four thousand digits is refused before it is
computed.
"""

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import msgspec

from hitsend.errors import Refused

MAX_DIGITS = 4_000
MAX_BITS = 13_288
"""Of the numerator and of the denominator of an exact number: four thousand digits."""
MAX_ANGLE = 10**20
"""A sine of a larger angle would need more digits of pi."""
MAX_ROOT = 1_000
NUM_DIGITS = 50
"""Significant digits of a rounded number."""
WORKING = decimal.Context(prec=80, Emax=999_999, Emin=-999_999, rounding=decimal.ROUND_HALF_EVEN)
ROUNDED = decimal.Context(prec=NUM_DIGITS, Emax=999_999, Emin=-999_999)
LOG10_2, LOG10_E = Fraction(30_103, 100_000), Fraction(4_343, 10_000)
NOISE = Fraction(1, 10 ** (NUM_DIGITS - 5))
"""A sum smaller than this, compared with its terms, is zero with the error of their rounding."""
LAST_PLACE = Decimal("1e-45")

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
E = Decimal("2.71828182845904523536028747135266249775724709369995957496696762772407663035354759")


class Number(msgspec.Struct, frozen=True):
    value: Fraction
    is_exact: bool = True

    def __add__(self, other: "Number") -> "Number":
        total, is_exact = self.value + other.value, self.is_exact and other.is_exact
        if not is_exact and abs(total) < NOISE * max(abs(self.value), abs(other.value)):
            total = Fraction(0)
        return _bound(total, is_exact)

    def __sub__(self, other: "Number") -> "Number":
        return self + -other

    def __neg__(self) -> "Number":
        return Number(-self.value, self.is_exact)

    def __abs__(self) -> "Number":
        return Number(abs(self.value), self.is_exact)

    def __mul__(self, other: "Number") -> "Number":
        return _bound(self.value * other.value, self.is_exact and other.is_exact)

    def __truediv__(self, other: "Number") -> "Number":
        if not other.value:
            raise Refused("Division by zero has no result.")
        return _bound(self.value / other.value, self.is_exact and other.is_exact)

    def __floordiv__(self, other: "Number") -> "Number":
        return map_fraction(math.floor, self / other)

    def __mod__(self, other: "Number") -> "Number":
        return self - (self // other) * other

    def __pow__(self, exponent: "Number") -> "Number":
        base, power = self.value, exponent.value
        if power == 0 or base == 1:
            return Number(Fraction(1), self.is_exact and exponent.is_exact)
        if base == 0:
            return self if power > 0 else ONE / self
        if power.denominator != 1:
            return self._power_of_fraction(exponent)
        if base < 0:
            size = (-self) ** exponent
            return -size if power.numerator % 2 else size
        _check_magnitude(_log10(base) * power)
        num_bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if self.is_exact and exponent.is_exact and num_bits * abs(power) <= 2 * MAX_BITS:
            return _bound(base**power.numerator, is_exact=True)
        return rounded(WORKING.power(to_decimal(base), power.numerator))

    def _power_of_fraction(self, exponent: "Number") -> "Number":
        base, power = self.value, exponent.value
        if base < 0:
            raise Refused(
                "A power of a negative number with a fraction as its exponent is not real. "
                "The real cube root of -8 is cbrt(-8)."
            )
        if self.is_exact and exponent.is_exact and power.denominator <= MAX_ROOT:
            exact_root = _exact_root(base, power.denominator)
            if exact_root is not None:
                return Number(exact_root) ** exact(power.numerator)
        _check_magnitude(_log10(base) * power)
        return rounded(WORKING.power(to_decimal(base), to_decimal(power)))


def exact(value: int | str | Fraction) -> Number:
    return Number(Fraction(value))


ZERO, ONE = exact(0), exact(1)

Function: TypeAlias = Callable[[Decimal], Decimal]


def rounded(value: Decimal) -> Number:
    """Returns a number that is known to fifty digits."""
    _check_magnitude(Fraction(value.adjusted()))
    return Number(Fraction(ROUNDED.plus(value)), is_exact=False)


def to_decimal(value: Fraction) -> Decimal:
    return WORKING.divide(Decimal(value.numerator), Decimal(value.denominator))


def map_fraction(function: Callable[[Fraction], int], number: Number) -> Number:
    """Applies a function such as `math.floor`."""
    return exact(function(_without_noise(number)))


def truncate(number: Number) -> Number:
    return map_fraction(math.trunc, number)


def _without_noise(number: Number) -> Fraction:
    """The floor of sqrt(2) ^ 2 is 2, though its value is a little less."""
    value, nearest = number.value, Fraction(round(number.value))
    is_whole = not number.is_exact and abs(value - nearest) < NOISE * abs(value)
    return nearest if is_whole else value


def _bound(value: Fraction, is_exact: bool) -> Number:
    num_bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if is_exact and num_bits <= MAX_BITS:
        return Number(value)
    return rounded(to_decimal(value))


def _check_magnitude(log10: Fraction) -> None:
    if abs(log10) <= MAX_DIGITS:
        return
    size = "large" if log10 > 0 else "small"
    raise Refused(f"The result would be too {size}: at most {MAX_DIGITS} digits can be computed.")


def _log10(value: Fraction) -> Fraction:
    return Fraction(WORKING.log10(to_decimal(value)))


def _exact_root(value: Fraction, degree: int) -> Fraction | None:
    numerator = _integer_root(value.numerator, degree)
    denominator = _integer_root(value.denominator, degree)
    if numerator is None or denominator is None:
        return None
    return Fraction(numerator, denominator)


def _integer_root(value: int, degree: int) -> int | None:
    """Returns the root if it is an integer, and, other than a square root, not a very long one."""
    if degree == 2:
        root = math.isqrt(value)
    else:
        root = round(Fraction(WORKING.power(Decimal(value), to_decimal(Fraction(1, degree)))))
    return root if int(root**degree) == value else None


# Functions of one number.


def root(number: Number, degree: Number) -> Number:
    whole = degree.value.numerator
    if degree.value.denominator != 1 or not 1 <= whole <= MAX_ROOT:
        raise Refused(f"The degree of a root is a whole number from 1 to {MAX_ROOT}.")
    if number.value >= 0:
        return number ** exact(Fraction(1, whole))
    if whole % 2 == 0:
        raise Refused("An even root of a negative number is not real.")
    positive = (-number) ** exact(Fraction(1, whole))
    return -positive


def exponential(number: Number) -> Number:
    if number.value == 0:
        return exact(1)
    _check_magnitude(number.value * LOG10_E)
    return rounded(WORKING.exp(to_decimal(number.value)))


def natural_log(number: Number) -> Number:
    if number.value <= 0:
        raise Refused("Only a positive number has a logarithm.")
    if number.value == 1:
        return Number(Fraction(0), number.is_exact)
    return rounded(WORKING.ln(to_decimal(number.value)))


def log(number: Number, base: Number) -> Number:
    if base.value <= 0 or base.value == 1:
        raise Refused("The base of a logarithm is a positive number other than 1.")
    result = natural_log(number) / natural_log(base)
    nearest = exact(round(result.value))
    is_exact = number.is_exact and base.is_exact and abs(nearest.value) <= MAX_DIGITS
    if is_exact and abs(result.value - nearest.value) < NOISE and base**nearest == number:
        return nearest
    return result


def factorial(number: Number) -> Number:
    whole = to_int(number, "factorial")
    if whole < 0:
        raise Refused("Only whole numbers from 0 on have a factorial.")
    _check_magnitude(_log10_factorial(whole))
    return exact(math.factorial(whole))


def combinations(total: Number, taken: Number) -> Number:
    n, k = to_int(total, "ncr"), to_int(taken, "ncr")
    if not 0 <= k <= n:
        return exact(0)
    k = min(k, n - k)
    # It is at most (e n / k) ** k.
    num_bits = n.bit_length() - k.bit_length() + 1
    _check_magnitude(k * (num_bits * LOG10_2 + LOG10_E))
    return exact(Fraction(math.comb(n, k)))


def permutations(total: Number, taken: Number) -> Number:
    n, k = to_int(total, "npr"), to_int(taken, "npr")
    if not 0 <= k <= n:
        return exact(0)
    _check_magnitude(k * n.bit_length() * LOG10_2)
    return exact(Fraction(math.perm(n, k)))


def to_int(number: Number, function: str) -> int:
    if number.value.denominator != 1:
        raise Refused(f"{function} takes whole numbers.")
    return number.value.numerator


def _log10_factorial(whole: int) -> Fraction:
    if whole > 10**6:
        return Fraction(10**6)
    return Fraction(math.lgamma(whole + 1) / math.log(10))


def round_half_up(number: Number, num_places: Number = ZERO) -> Number:
    """Rounds halves away from zero, as one learns at school."""
    places = to_int(num_places, "round")
    if abs(places) > MAX_DIGITS:
        raise Refused(f"round takes at most {MAX_DIGITS} places.")
    scale = Fraction(10) ** places
    whole = math.floor(abs(_without_noise(number)) * scale + Fraction(1, 2))
    return exact((-whole if number.value < 0 else whole) / scale)


# Trigonometry, in radians. Results are to 45 places, so that sin(pi) is 0.


def sine(number: Number) -> Number:
    return _of_angle(_sine, number)


def cosine(number: Number) -> Number:
    return _of_angle(lambda angle: _sine(angle + PI / 2), number)


def tangent(number: Number) -> Number:
    divisor = cosine(number)
    if not divisor.value:
        raise Refused("The tangent has no value at a right angle.")
    return sine(number) / divisor


def arc_tangent(number: Number) -> Number:
    return _places(_arc_tangent(to_decimal(number.value)))


def arc_sine(number: Number) -> Number:
    if abs(number.value) > 1:
        raise Refused("Only a number from -1 to 1 has an arc sine or arc cosine.")
    with decimal.localcontext(WORKING):
        sin = to_decimal(number.value)
        if abs(sin) == 1:
            return _places(PI / 2 * sin)
        return _places(_arc_tangent(sin / (1 - sin * sin).sqrt()))


def arc_cosine(number: Number) -> Number:
    return rounded(PI / 2) - arc_sine(number)


def _of_angle(function: Function, number: Number) -> Number:
    if abs(number.value) > MAX_ANGLE:
        raise Refused("The angle is too large: use one below 1e20.")
    if number.value == 0 and function is _sine:
        return exact(0)
    with decimal.localcontext(WORKING):
        return _places(function(to_decimal(number.value)))


def _places(value: Decimal) -> Number:
    return Number(Fraction(WORKING.quantize(value, LAST_PLACE)), is_exact=False)


def _sine(angle: Decimal) -> Decimal:
    """Sums the Taylor series, in the working context."""
    angle = angle % (2 * PI)
    term = total = angle
    square, divisor = angle * angle, 1
    while abs(term) > Decimal("1e-70"):
        term *= -square / ((divisor + 1) * (divisor + 2))
        total += term
        divisor += 2
    return total


def _arc_tangent(tangent: Decimal) -> Decimal:
    with decimal.localcontext(WORKING):
        if abs(tangent) > 1:
            return (PI / 2).copy_sign(tangent) - _arc_tangent(1 / tangent)
        halvings = 0
        while abs(tangent) > Decimal("0.1"):
            tangent = tangent / (1 + (1 + tangent * tangent).sqrt())
            halvings += 1
        term = total = tangent
        square, divisor = tangent * tangent, 1
        while abs(term) > Decimal("1e-70"):
            term *= -square
            divisor += 2
            total += term / divisor
        return total * Decimal(2**halvings)
