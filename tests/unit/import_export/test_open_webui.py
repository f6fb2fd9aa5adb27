"""Reading Open WebUI exports."""

from tests.unit.import_export.sample_exports import chat, list_messages, read_one, webui_message

THINKING = '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> hm\n</details>\n'
CALLING = '<details type="tool_calls" name="search">\n<summary>x</summary>\n</details>\n'


def test_a_chat_keeps_its_words_times_models_and_branches() -> None:
    imported, report = read_one(
        [
            chat(
                webui_message("q", None, "user", "Where is the Forum?", models=["a", "b"]),
                webui_message("a", "q", "assistant", "In Rome.", model="llama3:8b"),
                webui_message("b", "q", "assistant", "In the middle.", model="qwen3", modelIdx=1),
                webui_message("q2", "b", "user", "Of what?", timestamp=1_750_000_009),
                updated_at=1_750_000_050,
                archived=True,
                pinned=True,
                folder_id="somewhere",
                meta={"tags": ["travel"]},
            )
        ]
    )
    assert list_messages(imported) == [
        (None, "user", "Where is the Forum?"),
        ("Where is the Forum?", "assistant", "In Rome."),
        ("Where is the Forum?", "assistant", "In the middle."),
        ("In the middle.", "user", "Of what?"),
    ]
    assert [message.model for message in imported.messages] == [None, "llama3:8b", "qwen3", None]
    assert (imported.created_at, imported.updated_at) == (1_750_000_000, 1_750_000_050)
    assert (imported.source_id, imported.current_node) == ("w1", "q2")
    assert imported.is_archived
    assert imported.is_pinned
    assert report.source == "open_webui"


def test_reasoning_and_tool_calls_are_removed_from_answers() -> None:
    answer = f"{THINKING}{CALLING}It is <details><summary>kept</summary>here</details>."
    imported, report = read_one(
        [chat(webui_message("q", None, "user", "?"), webui_message("a", "q", "assistant", answer))]
    )
    assert imported.messages[1].text == "It is <details><summary>kept</summary>here</details>."
    assert (report.num_parts_left_out.other, report.num_parts_left_out.tools) == (1, 1)


def test_pictures_and_files_are_counted() -> None:
    pieces = [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "…"}}]
    imported, report = read_one(
        [
            chat(
                webui_message("q", None, "user", "", files=[{"type": "image", "url": "data:…"}]),
                webui_message("a", "q", "assistant", "A cat."),
                webui_message("q2", "a", "user", pieces, files=[{"type": "file", "name": "x.pdf"}]),
            )
        ]
    )
    assert [message.text for message in imported.messages] == ["[image]", "A cat.", "See"]
    assert (report.num_parts_left_out.images, report.num_parts_left_out.files) == (2, 1)


def test_an_old_chat_is_only_a_list() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    inner = {"title": "", "models": ["m"], "messages": messages, "timestamp": 1_700_000_000_123}
    imported, _ = read_one([{"id": "w2", "chat": inner}])
    assert list_messages(imported) == [(None, "user", "Hi"), ("Hi", "assistant", "Hello")]
    assert imported.title == "Hi"
    assert imported.messages[1].model == "m"
    assert imported.created_at == imported.messages[0].created_at == 1_700_000_000.123


def test_an_empty_answer_is_left_out() -> None:
    imported, _ = read_one(
        [
            chat(
                webui_message("q", None, "user", "?"),
                webui_message("a", "q", "assistant", "", error={"content": "x"}),
            )
        ]
    )
    assert list_messages(imported) == [(None, "user", "?")]
    assert imported.current_node == "q"


def test_the_oldest_exports_are_a_chat_without_metadata() -> None:
    inner = chat(
        webui_message("q", None, "user", "Hi"), webui_message("a", "q", "assistant", "Hello")
    )["chat"]
    imported, report = read_one([inner | {"timestamp": 1_700_000_000_000}])
    assert list_messages(imported) == [(None, "user", "Hi"), ("Hi", "assistant", "Hello")]
    assert (imported.title, imported.created_at) == ("Rome", 1_700_000_000)
    assert report.source == "open_webui"
