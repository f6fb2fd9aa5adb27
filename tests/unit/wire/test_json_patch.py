"""The six operations, with the cases that also test the TypeScript decoder."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from hitsend.wire.delta import BadDelta, DeltaDecoder

CASES = Path(__file__).parents[2] / "turns" / "deltas" / "operations.json"


class Case(msgspec.Struct):
    name: str
    tree: Any
    delta: dict[str, Any]
    result: Any = msgspec.UNSET
    """Unset when the change must be refused."""


cases = msgspec.json.decode(CASES.read_bytes(), type=list[Case])


def changed(case: Case) -> object:
    decoder = DeltaDecoder()
    decoder.decode(msgspec.json.encode({"p": "", "o": "add", "v": case.tree, "c": 0}))
    decoder.decode(msgspec.json.encode(case.delta))
    return decoder.tree(0)


@pytest.mark.parametrize(
    "case", [c for c in cases if c.result is not msgspec.UNSET], ids=lambda c: c.name
)
def test_an_operation_changes_exactly_what_it_names(case: Case) -> None:
    assert changed(case) == case.result


@pytest.mark.parametrize(
    "case", [c for c in cases if c.result is msgspec.UNSET], ids=lambda c: c.name
)
def test_an_operation_that_does_not_fit_is_refused(case: Case) -> None:
    with pytest.raises(BadDelta):
        changed(case)
