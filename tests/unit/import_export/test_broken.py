"""Broken files: the error names the problem and the conversation."""

import io
import json
import zipfile

import pytest
from tests.unit.import_export.sample_exports import (
    Json,
    chat,
    conversation,
    node,
    read_export,
    webui_message,
)

from hitsend.errors import BadImport
from hitsend.import_export.normalize_tree import MAX_DEPTH, MAX_MESSAGES

GOOD = conversation(node("q", None, "user", "Hi"), conversation_id="good")


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as whole:
        for name, content in members.items():
            whole.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def chain(length: int) -> Json:
    roles = ("user", "assistant")
    return conversation(
        *(node(str(i), str(i - 1) if i else None, roles[i % 2], "x") for i in range(length))
    )


def with_text(raw: str) -> bytes:
    return json.dumps([conversation(node("q", None, "user", "TEXT"))]).replace("TEXT", raw).encode()


BROKEN = {
    "dangling": (conversation(node("q", "gone", "user", "Hi")), "missing"),
    "cyclic": (
        conversation(node("a", "b", "user", "Hi"), node("b", "a", "assistant", "Hi")),
        "in a circle",
    ),
    "its own parent": (conversation(node("a", "a", "user", "Hi")), "in a circle"),
    "deep": (chain(MAX_DEPTH + 1), "messages deep"),
    "deeper": (chain(MAX_MESSAGES + 1), "more than 50,000 messages"),
    "no time": (conversation(node("q", None, "user", "Hi"), create_time=-1), "an invalid time"),
    "late": (conversation(node("q", None, "user", "Hi"), update_time=1e300), "an invalid time"),
    "odd time": (
        conversation(node("q", None, "user", "Hi", create_time="yesterday")),
        "an invalid time: 'yesterday'",
    ),
    "wrong shape": (conversation(node("q", None, "user", {"parts": 7})), "Expected `array | null`"),
    "wrong tree": ({"title": "Rome", "mapping": [1]}, "Expected `object`"),
    "NUL": (conversation(node("q", None, "user", "a\0b")), "NUL"),
    "same ids": (
        {"title": "Rome", "chat": {"messages": [{"id": "a", "role": "user", "content": "x"}] * 2}},
        "same id",
    ),
    "dangling chat": (chat(webui_message("q", "gone", "user", "Hi")), "missing"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_conversation_is_named_with_what_is_wrong(name: str) -> None:
    broken, why = BROKEN[name]
    _, report = read_export([broken])
    assert report.problem
    assert report.problem.startswith("“Rome” is broken: ")
    assert why in report.problem


@pytest.mark.parametrize("name", [name for name in BROKEN if "mapping" in BROKEN[name][0]])
def test_a_broken_conversation_can_be_left_out(name: str) -> None:
    broken, why = BROKEN[name]
    imported, report = read_export([GOOD, broken], leaves_out_broken=True)
    assert [conversation.source_id for conversation in imported] == ["good"]
    assert report.problem is None
    (left,) = report.left_out
    assert left.title == "Rome"
    assert why in left.why


@pytest.mark.parametrize(
    ("raw", "why"),
    [(r"\ud800", "half a character"), (r"\udc00x", "half a character"), ("\x01", "not JSON"),
     (r"\ud83dA", "half a character")],
)  # fmt: skip
def test_invalid_text_is_reported_with_its_conversation(raw: str, why: str) -> None:
    _, report = read_export(with_text(raw))
    assert report.problem
    assert report.problem.startswith("“Rome” is broken: ")
    assert why in report.problem


def ours(question: str, answer: str = "", **metadata: object) -> Json:
    asked, answered = node("q", None, "user", question), node("a", "q", "assistant", answer)
    answered["message"]["metadata"] = metadata
    return conversation(asked, answered, exported_by="hitsend")


@pytest.mark.parametrize(
    "broken",
    [
        ours("a\0b"),
        ours("a", "b\0c"),
        ours("a", "b", finish_details={"message": "\0"}),
        ours("a", "b", model_slug="\0"),
        ours("a") | {"folder": "\0"},
    ],
)
def test_our_own_exports_are_checked_like_others(broken: Json) -> None:
    _, report = read_export([broken])
    assert "NUL" in (report.problem or "")


def test_an_invalid_time_is_reported_with_its_conversation() -> None:
    bad = conversation(node("q", None, "user", "x"), title="Bad", create_time=float("nan"))
    whole = json.dumps([GOOD, bad])
    _, report = read_export(whole.encode())
    assert report.problem
    assert report.problem.startswith("“Bad” is broken: It is not JSON")


def test_a_second_conversation_with_the_same_id_is_broken() -> None:
    _, report = read_export([GOOD, GOOD, GOOD])
    assert report.problem
    assert "It has the same id as one before it. So is one more. Nothing was" in report.problem


def test_a_conversation_without_a_title_is_named_by_its_place() -> None:
    _, report = read_export([GOOD, {"mapping": {"a": {"parent": "b"}}}])
    assert report.problem
    assert report.problem.startswith("“Conversation 2” is broken: ")


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (b"", "empty"),
        (b"hello", "neither a zip file nor JSON"),
        (b"\xff\xfe[\x00]\x00", "neither a zip file nor JSON"),
        (b"[]", "no conversations"),
        (b"[1, 2]", "not a conversation"),
        (b'{"not": "ours"}', "neither a ChatGPT export"),
        (b'[{"uuid": "a claude export"}]', "neither a ChatGPT export"),
        (json.dumps([GOOD]).encode()[:-1], "cut off"),
        (json.dumps([GOOD]).encode()[:-40], "cut off"),
        (b'[{"mapping": "\\', "cut off"),
        (b'[{"mapping": ' + b"[" * 200_000 + b"]" * 200_000 + b"}]", "nested too deeply"),
        (zipped(conversations_json=b"[]")[:-30], "cut off"),
        (zipped(notes_txt=b"x"), "no conversations.json"),
        (zipped(a_json=b"[]", b_json=b"[]"), "no conversations.json"),
        (zipped(conversations_json=b"nothing"), "neither a zip file nor JSON"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_refused(file: bytes, why: str) -> None:
    try:
        problem = read_export(file)[1].problem
    except BadImport as error:
        problem = error.message
    assert problem
    assert why in problem


def test_a_zip_that_is_damaged_inside_is_refused() -> None:
    whole = bytearray(zipped(conversations_json=json.dumps([GOOD]).encode()))
    whole[60:80] = bytes(20)
    with pytest.raises(BadImport, match="damaged"):
        read_export(bytes(whole))


def test_a_zip_that_is_encrypted_is_refused() -> None:
    whole = bytearray(zipped(conversations_json=b"[]"))
    central = whole.rindex(b"PK\x01\x02")
    whole[6] |= 1
    whole[central + 8] |= 1
    with pytest.raises(BadImport, match="encrypted"):
        read_export(bytes(whole))


def test_unpacking_stops_at_the_maximum_size() -> None:
    blank = b"[" + b" " * 3_000_000 + b"]"
    bomb = zipped(**{"conversations-1_json": blank, "conversations-2_json": blank})
    assert len(bomb) < 10_000
    with pytest.raises(BadImport, match="larger than 5,000,000 bytes"):
        read_export(bomb, most_bytes=5_000_000)


def test_unterminated_strings_are_refused_quickly() -> None:
    with pytest.raises(BadImport, match="cut off"):
        read_export(b'[{"' + b'\\"' * 5_000_000)
