"""Reads and works out an expression in one pass, by precedence:

    conversion   X in UNIT, X to UNIT and UNIT
    sum          X + Y, X - Y
    product      X * Y, X / Y, X // Y, X mod Y, X% of Y, X% off Y
    sign         -X
    implied      2 pi, 3 (4 + 5)
    power        X ^ Y
    postfix      X!, X%
    operand      a number, a quantity such as 5 ft 3 in, a constant, a call, (X)

It takes what people and small models write, and refuses what could mean two things.
"""

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

from hitsend.errors import Refused
from hitsend.tools.calculator.functions import (
    CONSTANTS,
    FUNCTIONS,
    OTHER_NAMES,
    SCALES,
    call_function,
)
from hitsend.tools.calculator.number import ONE, Number, exact, factorial, truncate
from hitsend.tools.calculator.tokens import Token, read_tokens
from hitsend.tools.calculator.units import (
    MAX_POWER,
    PLAIN,
    NamedUnit,
    Quantity,
    Unit,
    add,
    divide,
    find_unit,
    floor_divide,
    multiply,
    negate,
    power,
    remainder,
)

MAX_DEPTH = 40
HUNDRED = exact(100)
CONVERSIONS = frozenset({"in", "to", "as", "into", "->"})
INFIX_WORDS = frozenset({"x", "mod", "of", "off", "and", *CONVERSIONS})
"""Words between two operands: none of them begins one."""
BASES = {"hex": "x", "hexadecimal": "x", "binary": "b", "octal": "o"}
POWER_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
LONGEST_UNIT_NAME = 3
"""In words."""


class Result(NamedTuple):
    parts: Sequence[Quantity]
    """More than one if it is in several units, such as feet and inches."""
    base: str = ""
    """The format letter of a base other than ten."""
    is_fraction: bool = False
    notes: Sequence[str] = ()


def work_out(text: str) -> Result:
    return _Parser(read_tokens(text)).read()


class _Parser:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._notes: dict[str, None] = {}

    def read(self) -> Result:
        quantity = self._read_sum()
        result = Result([quantity])
        if self._take_any(CONVERSIONS):
            result = self._read_target(quantity)
        if self._next.kind != "end":
            raise self._unexpected()
        return result._replace(notes=[*self._notes])

    # Conversion.

    def _read_target(self, quantity: Quantity) -> Result:
        self._take_any({"a", "an"})
        if self._next.word in BASES:
            name = self._take().word
            if quantity.to_plain(name).value.denominator != 1:
                raise Refused(f"Only a whole number can be written in {name}.")
            return Result([quantity], base=BASES[name])
        if self._take_any({"fraction"}):
            return Result([quantity], is_fraction=True)
        if self._take_any({"decimal", "number"}):
            return Result([quantity._replace(is_percent=False)])
        if self._take_any({"%"}):
            return Result([Quantity(quantity.to_plain("A percentage"), PLAIN, is_percent=True)])
        units = [self._read_unit_target()]
        while self._take_any({"and", ","}) or self._begins_unit():
            units.append(self._read_unit_target())
        return Result(_split_over(quantity, units))

    def _read_unit_target(self) -> Unit:
        target = self._read_product()
        if target.number != ONE or not target.unit:
            raise Refused("A conversion ends with a unit, as in `5 km in miles`.")
        return target.unit

    def _read_converted(self) -> Quantity:
        quantity = self._read_sum()
        if self._take_any(CONVERSIONS):
            quantity = quantity.convert(self._read_unit_target())
        return quantity

    # Operators, loosest first.

    def _read_sum(self) -> Quantity:
        total = self._read_product()
        while sign := self._take_any({"+", "-"}):
            term = self._read_product()
            total = add(total, term if sign == "+" else negate(term))
        return total

    def _read_product(self) -> Quantity:
        product = self._read_signed()
        while operator := self._take_any({"*", "x", "/", "//", "mod", "%", "of", "off"}):
            factor = self._read_signed(is_divisor=operator in ("/", "//"))
            match operator:
                case "/":
                    product = divide(product, factor)
                case "//":
                    product = floor_divide(product, factor)
                case "mod":
                    product = remainder(product, factor)
                case "%":
                    self._notes["% between two numbers is the remainder"] = None
                    product = remainder(product, factor)
                case "off":
                    product = multiply(Quantity(ONE - product.to_plain("`off`")), factor)
                case _:
                    product = multiply(product, factor)
        return product

    def _read_signed(self, *, is_divisor: bool = False) -> Quantity:
        is_negative = False
        while sign := self._take_any({"+", "-"}):
            is_negative ^= sign == "-"
        quantity = self._read_implied_product(is_divisor)
        return negate(quantity) if is_negative else quantity

    def _read_implied_product(self, is_divisor: bool) -> Quantity:
        is_divisor |= self._next.is_fraction
        product = self._read_power()
        while self._begins_implied_factor():
            if is_divisor:
                raise Refused(
                    "It can be read in two ways, as 1/2 pi can: put brackets around what "
                    "belongs together, as in (1/2) * pi or 1 / (2 * pi)."
                )
            if self._begins_unit():
                factor = Quantity(ONE, self._read_unit())
                is_bare = not product.unit
                product = (
                    Quantity(product.number, factor.unit) if is_bare else multiply(product, factor)
                )
            else:
                product = multiply(product, self._read_power())
        return product

    def _begins_implied_factor(self) -> bool:
        if self._next.kind == "name":
            return self._next.word not in INFIX_WORDS
        return self._next.text == "("

    def _read_power(self) -> Quantity:
        base = self._read_postfix()
        if self._take_any({"^", "**"}):
            return power(base, self._nest(self._read_exponent))
        return base

    def _read_exponent(self) -> Quantity:
        is_negative = False
        while sign := self._take_any({"+", "-"}):
            is_negative ^= sign == "-"
        exponent = self._read_postfix(has_unit=False)
        if self._take_any({"^", "**"}):
            exponent = power(exponent, self._nest(self._read_exponent))
        return negate(exponent) if is_negative else exponent

    def _read_postfix(self, *, has_unit: bool = True) -> Quantity:
        quantity = self._read_operand(has_unit)
        while True:
            if self._next.text == "%" and self._ends_operand(self._peek()):
                self._take()
                number = quantity.to_plain("A percentage") / HUNDRED
                quantity = Quantity(number, PLAIN, is_percent=True)
            elif self._take_any({"!"}):
                if self._next.text == "!":
                    raise Refused("A double factorial is not known here.")
                quantity = Quantity(factorial(quantity.to_plain("A factorial")))
            else:
                return quantity

    def _ends_operand(self, after: Token) -> bool:
        """Whether a `%` in front of this token is a percentage: else it is a remainder."""
        is_name = after.kind == "name" and after.word not in INFIX_WORDS
        return not (is_name or after.kind == "number" or after.text == "(")

    # Operands.

    def _read_operand(self, has_unit: bool) -> Quantity:
        token = self._next
        name = OTHER_NAMES.get(token.word, token.word)
        if token.kind == "number":
            return self._read_quantity(has_unit)
        if self._take_any({"(", "["}):
            quantity = self._nest(self._read_converted)
            self._expect(")" if token.text == "(" else "]")
            return quantity
        if token.kind != "name" or (token.word in INFIX_WORDS and token.word != "in"):
            raise self._unexpected()
        if name in FUNCTIONS and (self._peek().text == "(" or not find_unit(token.text)):
            return self._read_call(name)
        if name in CONSTANTS:
            self._take()
            return Quantity(CONSTANTS[name])
        if self._match_unit() is None:
            raise _unknown(token.text)
        unit = self._read_unit()
        if unit.is_money and self._next.kind == "number":
            return Quantity(self._read_quantity(has_unit=False).number, unit)
        return Quantity(ONE, unit)

    def _read_quantity(self, has_unit: bool) -> Quantity:
        """Reads a number, and its unit if it has one. More may follow, as in 5 ft 3 in."""
        number = self._read_number()
        if not has_unit or not self._begins_unit(after_number=True):
            return Quantity(number)
        quantity = Quantity(number, self._read_unit())
        while self._next.kind == "number":
            text, number = self._next.text, self._read_number()
            if not self._begins_unit(after_number=True):
                raise Refused(f"A unit is missing after {text}.")
            quantity = add(quantity, Quantity(number, self._read_unit()))
        return quantity

    def _read_number(self) -> Number:
        value = self._take().value
        while self._next.word in SCALES:
            value *= SCALES[self._take().word]
        return Number(value)

    def _read_call(self, name: str) -> Quantity:
        self._take()
        if note := FUNCTIONS[name].note:
            self._notes[note] = None
        if not self._take_any({"("}):
            return call_function(name, [self._nest(self._read_power)])
        is_list = self._take_any({"["})
        values = self._read_arguments("]" if is_list else ")")
        if is_list:
            self._expect(")")
        return call_function(name, values)

    def _read_arguments(self, close: str) -> Sequence[Quantity]:
        values: list[Quantity] = []
        while self._next.text != close:
            values.append(self._nest(self._read_converted))
            if not self._take_any({","}):
                break
        self._expect(close)
        return values

    # Units.

    def _begins_unit(self, *, after_number: bool = False) -> bool:
        token, after = self._next, self._peek()
        if token.word == "in":
            is_conversion = after.text == "%" or (
                after.kind == "name" and after.word not in INFIX_WORDS
            )
            return after_number and not is_conversion
        is_call = token.word in FUNCTIONS and after.text == "("
        return not is_call and token.word not in CONSTANTS and self._match_unit() is not None

    def _read_unit(self) -> Unit:
        """Reads one or more, such as km, m^2, N m or square feet."""
        unit = PLAIN
        while True:
            found = self._match_unit()
            assert found
            num_words, named, exponent = found
            last = self._tokens[self._at + num_words - 1]
            self._at += num_words
            if named.note:
                self._notes[named.note] = None
            unit *= Unit({named: exponent * self._read_unit_power(last)})
            if not self._begins_unit():
                return unit

    def _match_unit(self) -> tuple[int, NamedUnit, int] | None:
        """Returns the number of words, the unit, and the power, which `square` or `cubic` says."""
        exponent = POWER_WORDS.get(self._next.word, 1)
        start = self._at + (exponent > 1)
        for num_words in range(LONGEST_UNIT_NAME, 0, -1):
            words = self._tokens[start : start + num_words]
            if all(word.kind == "name" for word in words):
                unit = find_unit(" ".join(word.text for word in words))
                if unit is not None:
                    return num_words + (exponent > 1), unit, exponent
        return None

    def _read_unit_power(self, unit: Token) -> int:
        """Reads the power in m^2 or m2."""
        after, beyond = self._next, self._peek()
        is_digit = after.is_glued and after.text in ("2", "3") and unit.text.isalpha()
        if is_digit and not (beyond.is_glued and beyond.kind == "name"):
            return int(self._take().text)
        if not self._take_any({"^", "**"}):
            return 1
        exponent = self._nest(self._read_exponent).to_plain("The power of a unit").value
        if exponent.denominator != 1 or abs(exponent) > MAX_POWER:
            raise Refused(f"The power of a unit is a whole number up to {MAX_POWER}.")
        return exponent.numerator

    # Tokens.

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _peek(self) -> Token:
        """Returns the token after the next one."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _take_any(self, words: Set[str]) -> str:
        """Takes the next token if it is one of these, and returns it, else nothing."""
        return self._take().word if self._next.word in words else ""

    def _expect(self, text: str) -> None:
        if self._next.kind == "end":
            raise Refused(f"A `{text}` is missing at the end.")
        if not self._take_any({text}):
            raise self._unexpected()

    def _nest(self, read: Callable[[], Quantity]) -> Quantity:
        if self._depth == MAX_DEPTH:
            raise Refused(f"It is nested too deeply: {MAX_DEPTH} levels are the most.")
        self._depth += 1
        quantity = read()
        self._depth -= 1
        return quantity

    def _unexpected(self) -> Refused:
        token = self._next
        if token.kind == "end":
            return Refused("Something is missing at the end of the expression.")
        if token.text in ("=", "<", ">"):
            return Refused("Equations and comparisons cannot be worked out, only expressions.")
        if token.text == ",":
            return Refused("A comma was not expected there: write decimals with a point, as 3.5.")
        if token.kind == "number":
            return Refused(f"An operator is missing before {token.text}.")
        return Refused(f"`{token.text}` was not expected there.")


def _unknown(name: str) -> Refused:
    what = "Unknowns cannot be solved for, and " if len(name) == 1 else ""
    return Refused(f"{what}`{name}` is no unit, function or constant that is known here.")


def _split_over(quantity: Quantity, units: Sequence[Unit]) -> Sequence[Quantity]:
    """Splits 163 cm into 5 ft and 4.17 in."""
    parts, rest = [], quantity
    for unit in units[:-1]:
        rest = rest.convert(unit)
        whole = rest._replace(number=truncate(rest.number))
        parts.append(whole)
        rest = add(rest, negate(whole))
    return [*parts, rest.convert(units[-1])]
