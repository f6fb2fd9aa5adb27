"""Writing an export as a zip."""

import io
import json
import zipfile

import pytest

from hitsend.import_export.imported_conversation import ImportedConversation, ImportedMessage
from hitsend.import_export.write import ExportZip, conversation_markdown, file_name


def conversation(title: str = "Rome", created_at: float = 1_750_000_000.0) -> ImportedConversation:
    question = ImportedMessage(id="q", parent_id=None, role="user", text="Why?", created_at=1.0)
    answers = (
        ImportedMessage(
            id=name, parent_id="q", role="assistant", text=name, created_at=2.0, model="m"
        )
        for name in ("one", "two")
    )
    return ImportedConversation(
        source_id="c",
        title=title,
        created_at=created_at,
        updated_at=created_at,
        current_node="two",
        messages=(question, *answers),
    )


def test_a_page_holds_the_branch_that_is_shown() -> None:
    page = conversation_markdown(conversation())
    assert page.startswith("# Rome\n\n2025-06-15 15:06\n")
    assert "## You\n\n1970-01-01 00:00\n\nWhy?\n" in page
    assert "## Answer (m)\n\n1970-01-01 00:00\n\ntwo\n" in page
    assert "one" not in page


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rome", "2025-06-15 Rome"),
        ("../../etc/passwd", "2025-06-15 .. .. etc passwd"),
        ('a/b\\c:d*e?f"g<h>i|j\n', "2025-06-15 a b c d e f g h i j"),
        ("dots ...", "2025-06-15 dots"),
        ("exe\u202etxt.md", "2025-06-15 exe txt.md"),
        ("é" * 200, "2025-06-15 " + "é" * 60),
        ("\0", "2025-06-15"),
    ],
)
def test_a_title_becomes_a_portable_file_name(title: str, name: str) -> None:
    assert file_name(conversation(title)) == name


def test_a_time_beyond_the_calendar_is_written_as_a_number() -> None:
    assert file_name(conversation(created_at=9e10)).endswith("Rome")


def test_repeated_file_names_are_numbered() -> None:
    export = ExportZip()
    for title in ("Rome", "rome", "Rome (2)", "Rome"):
        export.add_markdown(conversation(title))
    export.close()
    with zipfile.ZipFile(io.BytesIO(export.take())) as whole:
        names = [name.removeprefix("markdown/2025-06-15 ") for name in whole.namelist()]
        assert whole.testzip() is None
    assert len({name.casefold() for name in names}) == 4
    assert names[:2] == ["Rome.md", "rome (2).md"]


@pytest.mark.parametrize("values", [[], [1], [1, {"a": "b"}]])
def test_an_array_is_written_value_by_value(values: list[object]) -> None:
    export = ExportZip()
    pieces = []
    with export.open_array("x.json") as write:
        for value in values:
            write(json.dumps(value).encode())
            pieces.append(export.take())
    export.close()
    with zipfile.ZipFile(io.BytesIO(b"".join([*pieces, export.take()]))) as whole:
        assert json.loads(whole.read("x.json")) == values
