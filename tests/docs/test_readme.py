"""The README's tree is the repository's, and the pages name modules that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"`(?:src/hitsend/)?([a-z_]+/[a-z_/]+\.py)`", page.read_text()))
    roots = (ROOT / "src/hitsend", ROOT)
    gone = {path for path in named if not any((root / path).exists() for root in roots)}
    assert gone == set()
