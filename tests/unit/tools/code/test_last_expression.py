import pytest

from hitsend.tools.code.last_expression import split_last_statement


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ("", "1 + 1"),
        ("x = 1\n", "x"),
        ("import math; ", "math.pi"),
        ("é = '''\nx\n'''\n", "é"),
        ("for i in x:\n    i\n", "i"),
        ("def f():\n    return 1\n\n", "f()  # ok\n\n# the end"),
        ("x = [\n    1]\n", "f(\n    x,\n    ';')"),
        ("", "a \\\n + b"),
        ("a\n", "lambda: a"),
        ("a\n", "x = 1"),
        ("", "$"),
    ],
)
def test_a_program_is_split_before_its_last_statement(before: str, last: str) -> None:
    assert split_last_statement(before + last) == (before, last)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "# nothing",
        "for i in x:\n    i",
        "for i in x: a; b",
        "x\nimport math",
        "del x",
        "@d\ndef f(): pass",
        "  x",
        "f(",
        "'''",
        "(" * 100_000,
    ],
)
def test_a_program_that_ends_with_no_expression_is_not_split(code: str) -> None:
    assert split_last_statement(code) is None
