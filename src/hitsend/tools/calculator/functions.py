"""The functions and constants that an expression may use."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import NamedTuple, TypeAlias

from hitsend.errors import Refused
from hitsend.tools.calculator import number as numbers
from hitsend.tools.calculator.number import ONE, PI, E, Number, exact
from hitsend.tools.calculator.units import (
    RADIAN,
    Quantity,
    Unit,
    add,
    divide,
    negate,
    power,
)

MAX_ARGUMENTS = 200
HALF, TWO, TEN = (exact(value) for value in ("1/2", 2, 10))

Values: TypeAlias = Sequence[Quantity]


class Function(NamedTuple):
    apply: Callable[[Values], Quantity]
    min_arguments: int = 1
    max_arguments: int = 1
    note: str = ""


def call_function(name: str, values: Values) -> Quantity:
    function = FUNCTIONS[name]
    least, most = function.min_arguments, function.max_arguments
    if not least <= len(values) <= most:
        wanted = f"{least} or more" if most == MAX_ARGUMENTS else f"{least} or {most}"
        raise Refused(
            f"{name} takes {least if least == most else wanted} "
            f"number{'s' * (most > 1)}, and got {len(values)}. "
            "Inside its brackets a comma separates numbers: write 1234, not 1,234."
        )
    return function.apply(values)


def _plain(name: str, apply: Callable[..., Number]) -> Callable[[Values], Quantity]:
    """Makes a function of numbers without units."""
    return lambda values: Quantity(apply(*(one.to_plain(name) for one in values)))


def _keeping_unit(name: str, apply: Callable[..., Number]) -> Callable[[Values], Quantity]:
    """Makes a function of a quantity, with further arguments that have no units."""

    def keep(values: Values) -> Quantity:
        first, *others = values
        number = apply(first.number, *(one.to_plain(name) for one in others))
        return first._replace(number=number)

    return keep


def _of_angle(apply: Callable[[Number], Number]) -> Callable[[Values], Quantity]:
    return lambda values: Quantity(apply(values[0].convert(Unit({RADIAN: 1})).number))


def _choose(choose: Callable[..., int]) -> Callable[[Values], Quantity]:
    """Makes a function that returns one of its arguments."""

    def apply(values: Values) -> Quantity:
        first = values[0].unit
        sizes = [one.convert(first).number.value for one in values]
        return values[choose(range(len(values)), key=sizes.__getitem__)]

    return apply


def _total(values: Values) -> Quantity:
    return reduce(add, values)


def _mean(values: Values) -> Quantity:
    return divide(_total(values), _count(values))


def _median(values: Values) -> Quantity:
    first = values[0].unit
    ordered = sorted(values, key=lambda one: one.convert(first).number.value)
    middle = ordered[(len(values) - 1) // 2 : len(values) // 2 + 1]
    return _mean(middle)


def _deviation(num_less: int, values: Values) -> Quantity:
    mean = _mean(values)
    squares = [power(add(one, negate(mean)), Quantity(TWO)) for one in values]
    count = Quantity(exact(len(values) - num_less))
    return power(divide(_total(squares), count), Quantity(HALF))


def _count(values: Values) -> Quantity:
    return Quantity(exact(len(values)))


def _root(values: Values) -> Quantity:
    base, degree = values[0], values[1].to_plain("root")
    if base.unit:
        return power(base, divide(Quantity(ONE), Quantity(degree)))
    return Quantity(numbers.root(base.number, degree))


def _square_root(values: Values) -> Quantity:
    return power(values[0], Quantity(HALF)) if values[0].unit else _root([*values, Quantity(TWO)])


def _natural_or_base(value: Number, base: Number | None = None) -> Number:
    return numbers.natural_log(value) if base is None else numbers.log(value, base)


def _common_log(value: Number, base: Number = TEN) -> Number:
    return numbers.log(value, base)


def _hypotenuse(values: Values) -> Quantity:
    squares = [power(one, Quantity(TWO)) for one in values]
    return power(_total(squares), Quantity(HALF))


def _of_integers(name: str, apply: Callable[..., int]) -> Callable[[Values], Quantity]:
    def on_numbers(*values: Number) -> Number:
        return Number(Fraction(apply(*(numbers.to_int(one, name) for one in values))))

    return _plain(name, on_numbers)


def _lcm(*values: Number) -> Number:
    total = ONE
    for one in values:
        whole = numbers.to_int(one, "lcm")
        shared = math.gcd(total.value.numerator, whole)
        total = total * exact(abs(whole) // shared)
    return total


FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function(_square_root),
    "cbrt": Function(lambda values: _root([*values, Quantity(exact(3))])),
    "root": Function(_root, 2, 2),
    "pow": Function(lambda values: power(*values), 2, 2),
    "abs": Function(_keeping_unit("abs", abs)),
    "round": Function(_keeping_unit("round", numbers.round_half_up), 1, 2),
    "floor": Function(_keeping_unit("floor", partial(numbers.map_fraction, math.floor))),
    "ceil": Function(_keeping_unit("ceil", partial(numbers.map_fraction, math.ceil))),
    "trunc": Function(_keeping_unit("trunc", numbers.truncate)),
    "exp": Function(_plain("exp", numbers.exponential)),
    "ln": Function(_plain("ln", numbers.natural_log)),
    "log": Function(_plain("log", _common_log), 1, 2, "log is to base 10, ln is natural"),
    "log10": Function(_plain("log10", _common_log)),
    "log2": Function(_plain("log2", lambda value: numbers.log(value, TWO))),
    "mathlog": Function(_plain("log", _natural_or_base), 1, 2, "math.log is the natural logarithm"),
    "sin": Function(_of_angle(numbers.sine)),
    "cos": Function(_of_angle(numbers.cosine)),
    "tan": Function(_of_angle(numbers.tangent)),
    "asin": Function(_plain("asin", numbers.arc_sine)),
    "acos": Function(_plain("acos", numbers.arc_cosine)),
    "atan": Function(_plain("atan", numbers.arc_tangent)),
    "hypot": Function(_hypotenuse, 2, MAX_ARGUMENTS),
    "min": Function(_choose(min), 1, MAX_ARGUMENTS),
    "max": Function(_choose(max), 1, MAX_ARGUMENTS),
    "sum": Function(_total, 1, MAX_ARGUMENTS),
    "mean": Function(_mean, 1, MAX_ARGUMENTS),
    "median": Function(_median, 1, MAX_ARGUMENTS),
    "stdev": Function(partial(_deviation, 1), 2, MAX_ARGUMENTS, "of a sample; pstdev is of all"),
    "pstdev": Function(partial(_deviation, 0), 1, MAX_ARGUMENTS),
    "factorial": Function(_plain("factorial", numbers.factorial)),
    "ncr": Function(_plain("ncr", numbers.combinations), 2, 2),
    "npr": Function(_plain("npr", numbers.permutations), 2, 2),
    "gcd": Function(_of_integers("gcd", math.gcd), 1, MAX_ARGUMENTS),
    "lcm": Function(_plain("lcm", _lcm), 1, MAX_ARGUMENTS),
}

OTHER_NAMES: Mapping[str, str] = {
    "average": "mean",
    "avg": "mean",
    "ceiling": "ceil",
    "comb": "ncr",
    "binomial": "ncr",
    "perm": "npr",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "log_10": "log10",
    "std": "stdev",
    "int": "trunc",
    "fact": "factorial",
}

CONSTANTS: Mapping[str, Number] = {
    "pi": numbers.rounded(PI),
    "π": numbers.rounded(PI),
    "tau": numbers.rounded(2 * PI),
    "e": numbers.rounded(E),
    "half": HALF,
}

SCALES: Mapping[str, Fraction] = {
    "hundred": Fraction(10**2),
    "thousand": Fraction(10**3),
    "million": Fraction(10**6),
    "billion": Fraction(10**9),
    "trillion": Fraction(10**12),
    "dozen": Fraction(12),
}
"""Words that multiply the number in front of them."""
