"""What Open WebUI exports, as we keep it."""

from tests.unit.takeout.shapes import chat, lines, one, said

THINKING = '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>\n'
CALLING = '<details type="tool_calls" name="search">\n<summary>x</summary>\n</details>\n'


def test_a_chat_keeps_its_words_times_models_and_branches() -> None:
    taken, report = one(
        [
            chat(
                said("q", None, "user", "Where is the Forum?", models=["a", "b"]),
                said("a", "q", "assistant", "In Rome.", model="llama3:8b"),
                said("b", "q", "assistant", "In the middle.", model="qwen3", modelIdx=1),
                said("q2", "b", "user", "Of what?", timestamp=1_750_000_009),
                updated_at=1_750_000_050,
                archived=True,
                pinned=True,
                folder_id="somewhere",
                meta={"tags": ["travel"]},
            )
        ]
    )
    assert lines(taken) == [
        (None, "user", "Where is the Forum?"),
        ("Where is the Forum?", "assistant", "In Rome."),
        ("Where is the Forum?", "assistant", "In the middle."),
        ("In the middle.", "user", "Of what?"),
    ]
    assert [message.model for message in taken.messages] == [None, "llama3:8b", "qwen3", None]
    assert (taken.created_at, taken.updated_at) == (1_750_000_000, 1_750_000_050)
    assert (taken.source_id, taken.current_node) == ("w1", "q2")
    assert taken.is_archived
    assert taken.is_pinned
    assert report.source == "open_webui"


def test_thoughts_and_calls_of_tools_are_taken_out_of_answers() -> None:
    answer = f"{THINKING}{CALLING}It is <details><summary>kept</summary>here</details>."
    taken, report = one([chat(said("q", None, "user", "?"), said("a", "q", "assistant", answer))])
    assert taken.messages[1].text == "It is <details><summary>kept</summary>here</details>."
    assert (report.num_parts_left_out.other, report.num_parts_left_out.tools) == (1, 1)


def test_pictures_and_files_are_counted() -> None:
    pieces = [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "…"}}]
    taken, report = one(
        [
            chat(
                said("q", None, "user", "", files=[{"type": "image", "url": "data:…"}]),
                said("a", "q", "assistant", "A cat."),
                said("q2", "a", "user", pieces, files=[{"type": "file", "name": "x.pdf"}]),
            )
        ]
    )
    assert [message.text for message in taken.messages] == ["[image]", "A cat.", "See"]
    assert (report.num_parts_left_out.images, report.num_parts_left_out.files) == (2, 1)


def test_an_old_chat_is_only_a_list() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    inner = {"title": "", "models": ["m"], "messages": messages, "timestamp": 1_700_000_000_123}
    taken, _ = one([{"id": "w2", "chat": inner}])
    assert lines(taken) == [(None, "user", "Hi"), ("Hi", "assistant", "Hello")]
    assert taken.title == "Hi"
    assert taken.messages[1].model == "m"
    assert taken.created_at == taken.messages[0].created_at == 1_700_000_000.123


def test_an_answer_that_was_never_given_is_left_out() -> None:
    taken, _ = one(
        [
            chat(
                said("q", None, "user", "?"),
                said("a", "q", "assistant", "", error={"content": "x"}),
            )
        ]
    )
    assert lines(taken) == [(None, "user", "?")]
    assert taken.current_node == "q"


def test_the_oldest_exports_have_the_chat_alone() -> None:
    inner = chat(said("q", None, "user", "Hi"), said("a", "q", "assistant", "Hello"))["chat"]
    taken, report = one([inner | {"timestamp": 1_700_000_000_000}])
    assert lines(taken) == [(None, "user", "Hi"), ("Hi", "assistant", "Hello")]
    assert (taken.title, taken.created_at) == ("Rome", 1_700_000_000)
    assert report.source == "open_webui"
