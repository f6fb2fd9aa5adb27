"""The path of a message in docs/journey.md is the one in the code, and short."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
JOURNEY = (ROOT / "docs" / "journey.md").read_text()
SOURCES = ROOT / "src" / "hitsend"
MAX_FUNCTIONS, MAX_FILES = 42, 22
LINE = re.compile(r"^[ \d]\d?[\w, ]*? {2,}(?P<file>[\w/]+\.py) +(?P<functions>.+)$")


def drawn_functions() -> set[tuple[str, str]]:
    drawing = JOURNEY.split("## The path, drawn")[1].split("```")[1]
    lines = [found for line in drawing.splitlines() if (found := LINE.match(line))]
    return {
        (line["file"], name)
        for line in lines
        for name in re.split(r" -> |, ", line["functions"].split(", then")[0])
        if not name.startswith("Engine.")
    }


def defined_functions(file: str) -> set[str]:
    tree = ast.parse((SOURCES / file).read_text())
    methods = {
        f"{owner.name}.{one.name}"
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for one in owner.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return methods | {one.name for one in ast.walk(tree) if isinstance(one, functions)}


def test_every_function_of_the_path_is_where_the_drawing_says() -> None:
    drawn = drawn_functions()
    assert len(drawn) > 30
    missing = [(file, name) for file, name in drawn if name not in defined_functions(file)]
    assert missing == []


def test_the_path_is_short_and_counted() -> None:
    drawn = drawn_functions()
    num_functions, num_files = len(drawn), len({file for file, _ in drawn})
    assert num_functions <= MAX_FUNCTIONS
    assert num_files <= MAX_FILES
    assert f"{num_functions} functions in {num_files} files" in JOURNEY


def test_each_step_has_its_number_in_the_code() -> None:
    headings = re.findall(r"^## (\d+)\. .*?: (.+)$", JOURNEY, re.MULTILINE)
    told = {number: re.findall(r"`([\w/.]+)`", modules) for number, modules in headings}
    assert list(told) == [str(number) for number in range(1, 14)]
    numbered = [
        (number, path.relative_to(SOURCES).as_posix())
        for path in SOURCES.rglob("*.py")
        for number in re.findall(r'^"""Step (\d+), ', path.read_text())
    ]
    assert {number for number, _ in numbered} == set(told)
    for number, path in numbered:
        assert any(path.startswith(module) for module in told[number]), path
