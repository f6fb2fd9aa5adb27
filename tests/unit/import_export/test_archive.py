"""Splitting a file into conversations without parsing it."""

import io
import json
import zipfile

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.import_export.sample_exports import Json, conversation, node, read_export

from hitsend.import_export.archive import split_elements

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=4)


@given(st.lists(objects, max_size=5), st.booleans(), st.sampled_from([None, 0, 3]))
def test_the_pieces_of_an_array_are_its_values(
    given: list[Json], is_escaped: bool, indent: int | None
) -> None:
    text = json.dumps(given, ensure_ascii=is_escaped, indent=indent)
    assert [json.loads(piece) for piece in split_elements(text.encode())] == given


@given(objects)
def test_one_object_is_one_piece_even_after_a_byte_order_mark(given: Json) -> None:
    text = b"\xef\xbb\xbf\n " + json.dumps(given).encode() + b"\n"
    assert [json.loads(piece) for piece in split_elements(text)] == [given]


def named(conversation_id: str) -> bytes:
    whole = conversation(node("q", None, "user", "Hi"), conversation_id=conversation_id)
    return json.dumps([whole]).encode()


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as whole:
        for name, content in members.items():
            whole.writestr(name, content)
    return packed.getvalue()


def test_every_file_of_conversations_in_a_zip_is_read_and_nothing_else() -> None:
    imported, _ = read_export(
        zipped(
            {
                "chat.html": b"<p>",
                "export/conversations-001.json": named("second"),
                "export/conversations-000.json": named("first"),
                "user.json": b"{}",
                "message_feedback.json": b"[]",
                "shared_conversations.json": b"[]",
            }
        )
    )
    assert [conversation.source_id for conversation in imported] == ["first", "second"]


def test_a_zip_around_one_file_of_any_name_is_read() -> None:
    imported, _ = read_export(zipped({"chat-export-1.json": named("only"), "notes.txt": b""}))
    assert [conversation.source_id for conversation in imported] == ["only"]


def test_a_member_named_outside_its_folder_is_not_written_there() -> None:
    imported, _ = read_export(zipped({"../../../conversations.json": named("climber")}))
    assert [conversation.source_id for conversation in imported] == ["climber"]
