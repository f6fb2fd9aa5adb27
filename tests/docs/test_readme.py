"""The README's tree is the repository's, and pages and comments name modules that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CODE = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("web/src/**/*.ts")])
UNTOLD = (".", "__", "dist", "py.typed")
"""Hidden, made by Python, or made by a build."""

LINE = re.compile(r"^((?:│   |    )*)[├└]── (\S+)(?:  +(\S.*))?$")


def tree() -> dict[Path, str]:
    """Every path in the README's trees, with what is said of it. A tree begins with its root."""
    found, folders = dict[Path, str](), list[Path]()
    for line in (ROOT / "README.md").read_text().splitlines():
        if match := LINE.match(line):
            depth, name = len(match[1]) // 4, match[2].rstrip("/")
            folders[depth:] = [folders[depth - 1] / name if depth else Path(name)]
            found[folders[depth]] = match[3] or ""
    return found


def test_everything_in_the_tree_is_there() -> None:
    assert tree() != {}
    assert [path for path in tree() if not (ROOT / path).exists()] == []


def test_everything_in_the_tree_is_explained() -> None:
    parents = {path.parent for path in tree()}
    assert [path for path, note in tree().items() if not note and path not in parents] == []


def test_every_folder_and_every_module_of_hitsend_is_in_the_tree() -> None:
    folders = {path.relative_to(ROOT) for path in ROOT.iterdir() if path.is_dir()}
    modules = {path.relative_to(ROOT) for path in (ROOT / "src/hitsend").iterdir()}
    missing = {path for path in folders | modules if not path.name.startswith(UNTOLD)}
    assert sorted(map(str, missing - set(tree()))) == []


def find_missing_modules(text: str, *folders: Path) -> set[str]:
    """Returns the modules that the text names and that are in none of the folders."""
    named = set(re.findall(r"\b(?:src/hitsend/)?([a-z_]+/[a-z_/]+\.py)\b", text))
    return {path for path in named if not any((folder / path).exists() for folder in folders)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    assert find_missing_modules(page.read_text(), ROOT / "src/hitsend", ROOT) == set()


def test_every_module_that_a_comment_names_exists() -> None:
    missing = {
        path.relative_to(ROOT): names
        for path in CODE
        if (names := find_missing_modules(path.read_text(), ROOT / "src/hitsend", *path.parents))
    }
    assert missing == {}


def test_decisions_are_numbered_one_by_one() -> None:
    decisions = sorted(ROOT.glob("docs/decisions/*.md"))
    for number, path in enumerate(decisions, start=1):
        assert path.name.startswith(f"{number:04}-")
        assert path.read_text().startswith(f"# {number}. ")
