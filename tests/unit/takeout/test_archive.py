"""A file, cut into conversations without being taken apart."""

import io
import json
import zipfile

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.takeout.shapes import Json, conversation, node, read

from hitsend.takeout.archive import elements

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
    assert [json.loads(piece) for piece in elements(text.encode())] == given


@given(objects)
def test_one_object_is_one_piece_also_after_a_mark_of_order(given: Json) -> None:
    text = b"\xef\xbb\xbf\n " + json.dumps(given).encode() + b"\n"
    assert [json.loads(piece) for piece in elements(text)] == [given]


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
    taken, _ = read(
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
    assert [conversation.source_id for conversation in taken] == ["first", "second"]


def test_a_zip_around_one_file_of_any_name_is_read() -> None:
    taken, _ = read(zipped({"chat-export-1.json": named("only"), "notes.txt": b""}))
    assert [conversation.source_id for conversation in taken] == ["only"]


def test_a_member_that_climbs_out_of_its_folder_is_written_nowhere() -> None:
    taken, _ = read(zipped({"../../../conversations.json": named("climber")}))
    assert [conversation.source_id for conversation in taken] == ["climber"]
