"""The README's tree is the repository's."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
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
