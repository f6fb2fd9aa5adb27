from contextlib import suppress
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.errors import Refused
from hitsend.tools.calculate import calculate
from hitsend.tools.calculator.parse import work_out
from hitsend.tools.calculator.units import UNITS, Quantity, Unit
from hitsend.tools.hosted_tool import Call

CALL = Call(call_id="c1", user_id="u1")


async def answer(expression: str) -> str:
    arguments = msgspec.json.encode({"expression": expression}).decode()
    return (await calculate.run(CALL, arguments)).output


async def result(expression: str) -> str:
    """Returns what follows the expression."""
    text = await answer(expression)
    assert text.startswith(expression), text
    return text.removeprefix(expression).strip()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2 + 3 * 4", "= 14"),
        ("(2 + 3) * 4", "= 20"),
        ("0.1 + 0.2", "= 0.3"),
        ("-2^2", "= -4"),
        ("2 ^ -2", "= 0.25"),
        ("2^3^2", "= 512"),
        ("2**10", "= 1024"),
        ("17 // 5", "= 3"),
        ("-7 mod 3", "= 2"),
        ("5!", "= 120"),
        ("1/3 + 1/6", "= 0.5"),
        ("2^100", "= 1267650600228229401496703205376"),
        ("123456789 * 987654321", "= 121932631112635269"),
        ("1.05^10", "= 1.62889462677744140625"),
        ("0xff + 0b1", "= 256"),
        ("1e400 * 1e400", "= 1e800"),
    ],
)
async def test_arithmetic_is_exact(expression: str, expected: str) -> None:
    assert await result(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("10/3", "≈ 3.33333333333333 (rounded to 15 digits; exactly 10/3)"),
        ("sqrt(2)", "≈ 1.4142135623731 (rounded to 15 digits)"),
        ("1e-400 / 3", "≈ 3.33333333333333e-401 (rounded to 15 digits)"),
        ("(1 + 0.05/365)^(365*30)", "≈ 4.48122868852452 (rounded to 15 digits)"),
        (
            "factorial(1000)",
            "≈ 4.02387260077094e2567 (rounded to 15 digits; the whole number has 2568 digits)",
        ),
    ],
)
async def test_the_answer_says_that_it_is_rounded(expression: str, expected: str) -> None:
    assert await result(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("15% of 80", "= 12"),
        ("15 percent of $80", "= $12"),
        ("80 + 15%", "= 92"),
        ("80 - 15%", "= 68"),
        ("20% off 80", "= 64"),
        ("200 * 15%", "= 30"),
        ("15% + 5%", "= 20%"),
        ("12/80 in %", "= 15%"),
        ("17 % 5", "= 2 (% between two numbers is the remainder)"),
        ("$45 + 18%", "= $53.10"),
    ],
)
async def test_percentages_are_what_people_mean(expression: str, expected: str) -> None:
    assert await result(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1,234.5 * 2", "= 2469"),
        ("1 234 567 + 1", "= 1234568"),
        ("12,34,567 + 0", "= 1234567"),
        ("3 × 4 ÷ 2 − 1", "= 5"),
        ("3 x 4", "= 12"),
        ("2²+3³", "= 31"),
        ("√16 + ∛8", "= 6"),
        ("2½ + ¾", "= 3.25"),
        ("1 1/2 + 1", "= 2.5"),
        ("2(3 + 4)", "= 14"),
        ("1.5 million / 1000", "= 1500"),
        ("what is 6 times 7?", "= 42"),
        ("What's the square root of 144", "= 12"),
        ("10 divided by 4 =", "= 2.5"),
        ("2 to the power of 8", "= 256"),
        ("math.sqrt(2 ** 4)", "= 4"),
        ("how many feet are in 2 miles?", "= 10560 ft"),
        ("１２＋３", "= 15"),
    ],
)
async def test_expressions_are_read_as_people_and_models_write_them(
    expression: str, expected: str
) -> None:
    assert await result(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sqrt(16/25)", "= 0.8"),
        ("8^(1/3)", "= 2"),
        ("cbrt(-8)", "= -2"),
        ("root(81, 4)", "= 3"),
        ("abs(-3.5)", "= 3.5"),
        ("round(2.5)", "= 3"),
        ("round(-3.14159, 2)", "= -3.14"),
        ("floor(-2.5) + ceil(2.1)", "= 0"),
        ("floor(sqrt(2)^2)", "= 2"),
        ("max(1, 234) - min(5, 2, 9)", "= 232"),
        ("sum([1, 2, 3])", "= 6"),
        ("average(1, 2, 3, 4)", "= 2.5"),
        ("median(7, 1, 10)", "= 7"),
        ("pstdev(2,4,4,4,5,5,7,9)", "= 2"),
        ("gcd(12,180) + lcm(4, 6)", "= 24"),
        ("comb(10, 3)", "= 120"),
        ("npr(5, 2)", "= 20"),
        ("log(1000)", "= 3 (log is to base 10, ln is natural)"),
        ("log2(1024)", "= 10"),
        ("ln(1)", "= 0"),
        ("hypot(3 m, 4 m)", "= 5 m"),
        ("sin(30 deg)", "≈ 0.5 (rounded to 15 digits)"),
        ("sin(pi)", "≈ 0 (rounded to 15 digits)"),
        ("4 * atan(1)", "≈ 3.14159265358979 (rounded to 15 digits)"),
        ("acos(0.5) in deg", "≈ 60° (rounded to 15 digits)"),
        ("exp(1)", "≈ 2.71828182845905 (rounded to 15 digits)"),
    ],
)
async def test_functions(expression: str, expected: str) -> None:
    assert await result(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("5 ft 3 in in cm", "= 160.02 cm"),
        ("5'3\" to cm", "= 160.02 cm"),
        ("3 in in cm", "= 7.62 cm"),
        ("3 miles in km", "= 4.828032 km"),
        ("20 C in F", "= 68 °F"),
        ("-40 degrees fahrenheit to celsius", "= -40 °C"),
        ("300 K in °C", "= 26.85 °C"),
        ("100 km / 2 h", "= 50 km/h"),
        ("90 km/h * 20 min", "= 30 km"),
        ("60 miles per hour in m/s", "= 26.8224 m/s"),
        ("2 hours 30 minutes * 3", "= 7.5 h"),
        ("5000 s in h and min and s", "= 1 h 23 min 20 s"),
        ("1/2 cup in ml", "= 118.29411825 mL"),
        ("5 square feet in m²", "= 0.4645152 m^2"),
        ("5 m2 in cm2", "= 50000 cm^2"),
        ("10 kg * 9.81 m/s^2 in N", "= 98.1 N"),
        ("70 kg / (1.75 m)^2", "≈ 22.8571428571429 kg/m^2 (rounded to 15 digits; exactly 160/7)"),
        ("sqrt(16 m^2)", "= 4 m"),
        ("1.5 GB in MB", "= 1500 MB"),
        ("1 GiB in MiB", "= 1024 MiB"),
        ("100 Mbps in MB/s", "= 12.5 MB/s"),
        ("500 kcal in kJ", "= 2092 kJ"),
        ("1 km / 1 m", "= 1000"),
        ("1 L/100km in mpg", "≈ 235.214583333333 mpg (rounded to 15 digits; exactly 112903/480)"),
        ("3 years in days", "= 1095.7275 d (a year is 365.2425 days on average)"),
        ("255 in hex", "= 0xff"),
        ("0.75 as fraction", "= 3/4"),
    ],
)
async def test_units(expression: str, expected: str) -> None:
    assert await result(expression) == expected


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("9**9**9", "too large"),
        ("10**10**10", "too large"),
        ("(10**-10)**10**10", "too small"),
        ("factorial(10**9)", "too large"),
        ("ncr(10**9, 10**8)", "too large"),
        ("1e99999", "more than 4000 digits"),
        ("exp(10^6)", "too large"),
        ("sin(1e30)", "angle is too large"),
        ("(" * 300, "nested too deeply"),
        ("2^" * 200 + "2", "nested too deeply"),
        ("sqrt " * 90 + "2", "nested too deeply"),
        ("1/0", "Division by zero"),
        ("5 mod 0", "Division by zero"),
        ("sqrt(-1)", "An even root of a negative number"),
        ("(-8)^(1/3)", "cbrt"),
        ("ln(0)", "positive number"),
        ("tan(90°)", "no value at a right angle"),
        ("6/2(1+2)", "in two ways"),
        ("1/2 pi", "in two ways"),
        ("3,5 + 2", "decimals with a point"),
        ("max(1,000, 2)", "write 1000, not 1,000"),
        ("5 3", "operator is missing before 3"),
        ("5 ft 3", "unit is missing after 3"),
        ("5 ton in kg", "short ton, a long ton or a tonne"),
        ("5 km in kg", "km measures length and kg measures mass"),
        ("3 in cm", "without a unit cannot be converted to cm"),
        ("5 kg + 3", "without a unit"),
        ("20 C + 5 C", "converted, but not added"),
        ("$5 in €", "exchange rates"),
        ("2x + 3 = 7", "Equations"),
        ("2 + z", "Unknowns cannot be solved"),
        ("(1 + 2", "`)` is missing"),
        ("2 +", "missing at the end"),
        ("", "missing at the end"),
        ("round(1, 2, 3)", "round takes 1 or 2 numbers"),
        ("__import__('os').system('ls')", "`_` is not understood"),
        ("open('/etc/passwd')", "`open` is no unit, function or constant"),
        ("m^99", "whole number up to 12"),
    ],
)
async def test_what_cannot_be_worked_out_is_refused_with_the_reason(
    expression: str, problem: str
) -> None:
    with pytest.raises(Refused) as refused:
        await answer(expression)
    assert problem in refused.value.message


async def test_a_long_expression_is_cut_in_the_answer() -> None:
    text = await answer("1+" * 200 + "1")
    assert len(text) < 120
    assert text.endswith("… = 201")


async def test_an_expression_beyond_the_limit_is_refused() -> None:
    with pytest.raises(Refused, match="length <= 500"):
        await answer("1+" * 300 + "1")


@given(st.text("0123456789.,+-*/^%!()[] xeimkn°$½²'\"", max_size=40))
def test_any_text_is_worked_out_or_refused(text: str) -> None:
    with suppress(Refused):
        assert work_out(text).parts


WHOLE = st.integers(1, 10**6).map(lambda whole: (str(whole), Fraction(whole)))
TREES = st.recursive(
    WHOLE,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(
        lambda tree: (f"({tree[0][0]} {tree[1]} {tree[2][0]})", _apply(tree[1], tree[0], tree[2]))
    ),
    max_leaves=12,
)


def _apply(
    operator: str, left: tuple[str, Fraction | None], right: tuple[str, Fraction | None]
) -> Fraction | None:
    """None where something is divided by zero."""
    if left[1] is None or right[1] is None or (operator == "/" and not right[1]):
        return None
    match operator:
        case "+":
            return left[1] + right[1]
        case "-":
            return left[1] - right[1]
        case "*":
            return left[1] * right[1]
        case _:
            return left[1] / right[1]


@given(TREES)
def test_sums_and_products_equal_those_of_fractions(tree: tuple[str, Fraction | None]) -> None:
    text, expected = tree
    if expected is None:
        with pytest.raises(Refused, match="Division by zero"):
            work_out(text)
    else:
        [quantity] = work_out(text).parts
        assert quantity.number.value == expected
        assert quantity.number.is_exact


@pytest.mark.parametrize("name", UNITS)
def test_every_name_of_a_unit_is_read_and_converts_there_and_back(name: str) -> None:
    unit = Unit({UNITS[name]: 1})
    if name.casefold() not in ("in", "l/100 km"):
        [quantity] = work_out(f"3 {name}").parts
        assert quantity.convert(unit).number.value == 3
    for other in UNITS.values():
        if other.dimensions == UNITS[name].dimensions:
            three = Quantity(work_out("3").parts[0].number, unit)
            there = three.convert(Unit({other: 1}))
            assert abs(there.convert(unit).number.value - 3) < Fraction(1, 10**30)
