"""Export and import: a clear report, or nothing changed."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, expect
from tests.browser.test_sidebar import row, talk
from tests.browser.world import Person, intercept
from tests.unit.import_export.sample_exports import Json, chat, conversation, node, webui_message

ROME = talk("Rome", "When was it founded?", "In 753 BC, it is said.")
CYCLIC = conversation(
    node("a", "b", "user", "Hi"),
    node("b", "a", "assistant", "Hello"),
    title="Ouroboros",
    conversation_id="o",
)
LATER = conversation(
    node("p", None, "user", {"content_type": "multimodal_text", "parts": [{"x": 1}, "Look."]}),
    title="Picture",
    conversation_id="p",
)


def zipped(*conversations: Json) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr("conversations.json", json.dumps(conversations))
        whole.writestr("chat.html", "<p>not ours to read</p>")
    return packed.getvalue()


def file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "", "buffer": content}


def give(person: Person, given: FilePayload | Path) -> Locator:
    """Chooses a file to import. Returns the section that shows the result."""
    part = person.open_settings("Data").get_by_role("region", name="Import")
    with person.page.expect_file_chooser() as chooser:
        part.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(given)
    return part


def listed(person: Person) -> list[str]:
    return [item["title"] for item in person.get("conversations")["items"]]


def test_everything_is_exported_and_can_be_imported_again(
    ada: Person, bob: Person, tmp_path: Path
) -> None:
    ada.ask("!script\nThe answer is heliotrope.")
    settings = ada.open_settings("Data")
    with ada.page.expect_download() as download:
        settings.get_by_role("link", name="Export everything").click()
    expect(settings.get_by_text("The download has begun.")).to_be_visible()
    assert download.value.suggested_filename.startswith("hitsend-export-")
    export = tmp_path / download.value.suggested_filename
    download.value.save_as(export)
    with zipfile.ZipFile(export) as opened:
        (taken,) = json.loads(opened.read("conversations.json"))
        (page,) = [name for name in opened.namelist() if name.startswith("markdown/")]
        assert "The answer is heliotrope." in json.dumps(taken["mapping"])
        assert "The answer is heliotrope." in opened.read(page).decode()
        assert json.loads(opened.read("account.json"))["name"] == "ada"
    report = give(bob, export)
    expect(report).to_contain_text("1 conversation with 2 messages came in from hitsend.")
    bob.page.keyboard.press("Escape")
    bob.conversations.get_by_role("link").click()

    expect(bob.answers).to_contain_text("The answer is heliotrope.")


def test_a_chatgpt_export_is_imported_once_and_can_be_continued(ada: Person) -> None:
    export = file("export.zip", zipped(ROME, talk("Paris", days=40), LATER))
    report = give(ada, export)
    expect(report).to_contain_text("3 conversations with 4 messages came in from ChatGPT.")
    expect(report).to_contain_text("Left out of the conversations: 1 ")
    report = give(ada, export)
    expect(report).to_contain_text("There was nothing new in this export of ChatGPT.")
    expect(report).to_contain_text("3 conversations were here already.")
    ada.page.keyboard.press("Escape")
    row(ada, "Rome").click()
    expect(ada.answers).to_contain_text("In 753 BC, it is said.")
    expect(ada.button("Look inside")).to_have_count(0)
    ada.ask("!script\nAnd it goes on.")

    expect(ada.answers.last).to_contain_text("And it goes on.")
    assert sorted(listed(ada)) == ["Paris", "Picture", "Rome"]


def test_an_open_webui_export_is_imported_by_drag_and_drop(ada: Person) -> None:
    exported = [
        chat(webui_message("q", None, "user", "Hi"), webui_message("a", "q", "assistant", "Salve!"))
    ]
    part = ada.open_settings("Data").get_by_role("region", name="Import")
    part.get_by_text("or drop it here").evaluate(
        """(place, text) => {
            const data = new DataTransfer();
            data.items.add(new File([text], 'chats.json', { type: 'application/json' }));
            const event = new DragEvent('drop', { dataTransfer: data, bubbles: true });
            place.dispatchEvent(event);
        }""",
        json.dumps(exported),
    )

    expect(part).to_contain_text("1 conversation with 2 messages came in from Open WebUI.")
    ada.page.keyboard.press("Escape")
    row(ada, "Rome").click()
    expect(ada.answers).to_contain_text("Salve!")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("export.zip", zipped(ROME)[:200], "The file is cut off"),
        ("export.zip", b"no zip at all", "zip"),
        ("chats.json", json.dumps({"hello": "world"}).encode(), "export"),
        ("chats.json", b'[{"title": "Rome", ', "The file is cut off"),
        ("chats.json", json.dumps([CYCLIC]).encode(), "in a circle"),
    ],
    ids=["truncated zip", "no zip", "wrong shape", "truncated JSON", "cyclic tree"],
)
def test_a_bad_file_is_refused_with_a_sentence_and_changes_nothing(
    ada: Person, name: str, content: bytes, sentence: str
) -> None:
    ada.post("import", [talk("Before")])
    part = give(ada, file(name, content))

    expect(part).to_contain_text(f"{name} was not imported, and nothing has changed.")
    expect(part.get_by_role("alert")).to_contain_text(sentence)
    assert listed(ada) == ["Before"]
    good = give(ada, file("good.json", json.dumps([ROME]).encode()))
    expect(good).to_contain_text("1 conversation with 2 messages came in")
    expect(good).not_to_contain_text("was not imported")


def test_an_import_can_skip_a_broken_conversation(ada: Person) -> None:
    part = give(ada, file("export.zip", zipped(ROME, CYCLIC)))
    expect(part.get_by_role("alert")).to_contain_text("“Ouroboros” is broken")
    assert listed(ada) == []
    part.get_by_role("button", name="Import the others").click()

    expect(part).to_contain_text("1 conversation with 2 messages came in from ChatGPT.")
    expect(part).to_contain_text("1 conversation was left out:")
    expect(part.get_by_role("listitem")).to_contain_text("Ouroboros: ")
    assert listed(ada) == ["Rome"]


def test_a_file_that_is_too_large_or_no_export_is_not_sent(ada: Person, tmp_path: Path) -> None:
    large = tmp_path / "large.zip"
    with large.open("wb") as opened:
        opened.truncate(257 << 20)
    intercept(ada.page, "**/backend-api/import*", lambda route: route.abort())
    part = give(ada, large)
    expect(part.get_by_role("alert").first).to_contain_text(
        "large.zip is too large. This server takes at most 268 MB."
    )
    part = give(ada, file("photo.png", b"\x89PNG"))
    expect(part.get_by_role("alert").first).to_contain_text("neither a zip nor a JSON file")
    part = give(ada, file("export.zip", zipped(ROME)))
    expect(part.get_by_role("alert").first).to_contain_text("cannot be reached")
    ada.page.unroute("**/backend-api/import*")
    part.get_by_role("button", name="Try again").click()

    expect(part).to_contain_text("1 conversation with 2 messages came in from ChatGPT.")
