"""Reading ChatGPT exports."""

import pytest
from tests.unit.import_export.sample_exports import (
    NOW,
    Json,
    conversation,
    list_messages,
    node,
    read_export,
    read_one,
)

from hitsend.titles import title_from_text

ROOT: Json = {"id": "root", "message": None, "parent": None, "children": []}
HIDDEN = {"metadata": {"is_visually_hidden_from_conversation": True}}


def parts(*given: object, kind: str = "multimodal_text") -> Json:
    return {"content_type": kind, "parts": list(given)}


def test_a_conversation_keeps_its_words_times_titles_models_and_branches() -> None:
    imported, report = read_one(
        [
            conversation(
                ROOT,
                node("s", "root", "system", "", **HIDDEN),
                node("q", "s", "user", "Where is the Forum?", create_time=NOW + 1),
                node("a", "q", "assistant", "In Rome.", metadata={"model_slug": "gpt-4o"}),
                node("b", "q", "assistant", "In the middle.", create_time=NOW + 3),
                node("q2", "b", "user", "Of what?"),
                default_model_slug="gpt-5",
                is_archived=True,
                is_starred=True,
            )
        ]
    )
    assert list_messages(imported) == [
        (None, "user", "Where is the Forum?"),
        ("Where is the Forum?", "assistant", "In Rome."),
        ("Where is the Forum?", "assistant", "In the middle."),
        ("In the middle.", "user", "Of what?"),
    ]
    assert [message.model for message in imported.messages] == [None, "gpt-4o", "gpt-5", None]
    assert [message.created_at for message in imported.messages] == [NOW + 1, NOW, NOW + 3, NOW]
    assert (imported.title, imported.created_at, imported.updated_at) == ("Rome", NOW, NOW + 9)
    assert (imported.source_id, imported.current_node) == ("c1", "q2")
    assert imported.is_archived
    assert imported.is_pinned
    assert report.source == "chatgpt"


def test_hidden_messages_are_left_out_and_counted() -> None:
    imported, report = read_one(
        [
            conversation(
                node("s", None, "system", "You are helpful."),
                node("e", "s", "user", {"content_type": "user_editable_context"}, **HIDDEN),
                node("q", "e", "user", "What is new?"),
                node("t", "q", "assistant", {"content_type": "thoughts", "thoughts": []}),
                node("c", "t", "assistant", "search('news')", recipient="web.run"),
                node("r", "c", "tool", parts("found it", kind="tether_browsing_display")),
                node("w", "r", "assistant", "not counted", weight=0.0),
                node("a", "w", "assistant", "Much."),
            )
        ]
    )
    assert list_messages(imported) == [
        (None, "user", "What is new?"),
        ("What is new?", "assistant", "Much."),
    ]
    left = report.num_parts_left_out
    assert (left.images, left.files, left.tools, left.other) == (0, 0, 2, 3)


def test_an_answer_in_several_messages_becomes_one() -> None:
    imported, _ = read_one(
        [
            conversation(
                node("q", None, "user", "Count."),
                node("a", "q", "assistant", "One."),
                node("t", "a", "tool", "1"),
                node("b", "t", "assistant", "Two.", metadata={"model_slug": "gpt-4o"}),
                node("q2", "b", "user", "More."),
                node("q3", "q2", "user", "Please."),
            )
        ]
    )
    assert [text for _, _, text in list_messages(imported)] == [
        "Count.",
        "One.\n\nTwo.",
        "More.\n\nPlease.",
    ]


def test_each_branch_gets_the_whole_joined_answer() -> None:
    imported, _ = read_one(
        [
            conversation(
                node("q", None, "user", "Count."),
                node("a", "q", "assistant", "One."),
                node("b", "a", "assistant", "Two."),
                node("c", "a", "assistant", "Zwei."),
                node("q2", "a", "user", "Stop."),
                current_node="b",
            )
        ]
    )
    assert list_messages(imported) == [
        (None, "user", "Count."),
        ("Count.", "assistant", "One."),
        ("Count.", "assistant", "One.\n\nTwo."),
        ("Count.", "assistant", "One.\n\nZwei."),
        ("One.", "user", "Stop."),
    ]
    assert imported.current_node == "b"


def test_images_and_files_are_counted_and_replaced_if_there_is_no_text() -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    attached = {"attachments": [{"mime_type": "application/pdf"}, {"mime_type": "image/png"}]}
    imported, report = read_one(
        [
            conversation(
                node("q", None, "user", parts(picture)),
                node("a", "q", "assistant", "A cat."),
                node("q2", "a", "user", parts(picture, "And this?"), metadata=attached),
                node("t", "q2", "tool", parts(picture)),
                node("b", "t", "assistant", "A dog."),
                node("q3", "b", "user", parts({"content_type": "audio_asset_pointer"})),
            )
        ]
    )
    assert [text for _, _, text in list_messages(imported)] == [
        "[image]",
        "A cat.",
        "And this?",
        "A dog.",
        "[file]",
    ]
    left = report.num_parts_left_out
    assert (left.images, left.files, left.tools) == (3, 2, 0)


def test_transcripts_of_speech_are_kept_as_text() -> None:
    spoken = {"content_type": "audio_transcription", "text": "Good morning."}
    imported, _ = read_one([conversation(node("q", None, "user", parts(spoken)))])
    assert imported.messages[0].text == "Good morning."


def test_code_becomes_a_block_that_its_own_fences_do_not_end() -> None:
    code = {"content_type": "code", "language": "python", "text": 'print("```")'}
    imported, _ = read_one(
        [conversation(node("q", None, "user", "Code?"), node("a", "q", "assistant", code))]
    )
    assert imported.messages[1].text == '````python\nprint("```")\n````'


def test_citation_marks_are_removed() -> None:
    cited = "Rome is old.\ue200cite\ue202turn0search1\ue202turn0search2\ue201"
    imported, _ = read_one([conversation(node("a", None, "assistant", cited))])
    assert imported.messages[0].text == "Rome is old."


@pytest.mark.parametrize(
    ("details", "ending"),
    [({"type": "stop"}, "stop"), ({"type": "max_tokens"}, "length"), (None, "stop"),
     ({"type": "interrupted"}, "stopped"), ({"type": "something new"}, "stop")],
)  # fmt: skip
def test_how_an_answer_ended_is_kept(details: Json | None, ending: str) -> None:
    answer = node("a", "q", "assistant", "Yes", metadata={"finish_details": details})
    imported, _ = read_one([conversation(node("q", None, "user", "Is it?"), answer)])
    assert [message.ending for message in imported.messages] == [None, ending]


def test_newer_exports_without_titles_times_metadata_or_a_current_node_are_read() -> None:
    bare = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi  you"]}}
    tree = {"q": {"message": bare, "children": ["a"]}}
    tree["a"] = {"parent": "q", "message": bare | {"author": {"role": "assistant"}}}
    imported, _ = read_one([{"title": None, "mapping": tree, "current_node": None, "id": "x"}])
    assert (imported.title, imported.source_id, imported.current_node) == ("Hi you", "x", "a")
    assert imported.created_at == imported.updated_at == NOW


def test_siblings_are_in_the_order_of_their_parents_children() -> None:
    whole = conversation(
        node("q", None, "user", "Which?"),
        node("late", "q", "assistant", "second"),
        node("early", "q", "assistant", "first"),
    )
    whole["mapping"]["q"]["children"] = ["early", "late"]
    imported, _ = read_one([whole])
    assert [message.text for message in imported.messages] == ["Which?", "first", "second"]


def test_an_empty_conversation_is_left_out_and_is_no_error() -> None:
    imported, report = read_export(
        [conversation(ROOT, title="Empty"), conversation(node("q", None, "user"))]
    )
    assert imported == []
    assert [left.title for left in report.left_out] == ["Empty", "Rome"]
    assert report.problem is None


def test_text_is_kept_unchanged() -> None:
    naughty = "<script>alert(1)</script>\n\n  \u202e ﷽ \U0001f469\u200d\t[x](javascript:1) "
    imported, _ = read_one([conversation(node("q", None, "user", naughty), title=naughty)])
    assert imported.messages[0].text == naughty
    assert "<script>" in imported.title


def test_a_tree_without_parent_ids_is_read() -> None:
    whole = conversation(
        node("q", None, "user", "One?"), node("a", "q", "assistant", "One."), current_node="a"
    )
    for one_node in whole["mapping"].values():
        del one_node["parent"]
    imported, _ = read_one([whole])
    assert list_messages(imported) == [(None, "user", "One?"), ("One?", "assistant", "One.")]


@pytest.mark.parametrize(
    "time", [1_750_000_000, 1_750_000_000_000, "1750000000", "2025-06-15T15:06:40Z",
             "2025-06-15T17:06:40+02:00", 1_750_000_000_000_000_000],
)  # fmt: skip
def test_a_time_is_the_same_however_it_is_written(time: object) -> None:
    imported, _ = read_one([conversation(node("q", None, "user", "Hi", create_time=time))])
    assert imported.messages[0].created_at == NOW


def test_titles_and_names_are_one_line_and_not_too_long() -> None:
    answer = node("a", "q", "assistant", "Hi", metadata={"model_slug": "m" * 500})
    imported, _ = read_one(
        [conversation(node("q", None, "user", "?"), answer, title="a\n b" * 100)]
    )
    assert len(imported.title) <= 200
    assert "\n" not in imported.title
    assert imported.messages[1].model == "m" * 80


def test_our_own_exports_have_the_same_length_limits() -> None:
    details = {"reason": "failed", "message": "x" * 5000}
    answer = node("a", "q", "assistant", "", metadata={"finish_details": details})
    whole = conversation(node("q", None, "user", "?"), answer, exported_by="hitsend")
    imported, _ = read_one([whole | {"folder": "f" * 500}])
    assert imported.folder == "f" * 80
    assert imported.messages[1].problem == "x" * 2000


def test_a_conversation_without_a_title_is_called_by_its_first_words() -> None:
    imported, _ = read_one([conversation(node("q", None, "user", "word " * 40), title=None)])
    assert imported.title == title_from_text("word " * 40)
