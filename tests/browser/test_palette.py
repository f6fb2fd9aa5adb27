"""The palette finds conversations and actions, and every listed shortcut works."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect
from tests.browser.test_sidebar import import_conversations, row, sidebar, talk
from tests.browser.world import Person, intercept

PRINTED = {"Ctrl": "Control", "Esc": "Escape", "↑": "ArrowUp", "↓": "ArrowDown"}


def palette(person: Person) -> Locator:
    return person.page.get_by_role("combobox", name="Find anything")


def chosen(person: Person) -> Locator:
    return person.page.get_by_role("option", selected=True)


def theme(person: Person) -> str:
    found: str = person.page.evaluate("getComputedStyle(document.body).colorScheme")
    return found


def shortcuts(person: Person, group: str) -> dict[str, str]:
    """The listed shortcuts: keys by action."""
    person.draft.blur()
    person.page.keyboard.press("?")
    dialog = person.page.get_by_role("dialog", name="Keyboard shortcuts")
    dialog.wait_for()
    part = dialog.locator("section").filter(
        has=person.page.get_by_role("heading", name=group, exact=True)
    )
    labels = part.get_by_role("term").all_inner_texts()
    keys = [caps.locator("kbd").all_inner_texts() for caps in part.get_by_role("definition").all()]
    person.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    pressed = ["+".join(PRINTED.get(cap, cap) for cap in caps) for caps in keys]
    return dict(zip(labels, pressed, strict=True))


def test_a_conversation_is_found_by_its_words_with_the_keyboard_alone(ada: Person) -> None:
    filler = ["Something long.\n\n" * 30] * 10
    import_conversations(
        ada, talk("Garden", *filler, "Plant the heliotrope.", *filler), talk("Stars")
    )
    ada.draft.focus()
    press = ada.page.keyboard.press
    press("Control+k")
    expect(palette(ada)).to_be_focused()
    expect(ada.page.get_by_role("group", name="Recent conversations")).to_contain_text("Garden")
    ada.page.keyboard.type("helio")
    expect(chosen(ada)).to_contain_text("Plant the heliotrope.")
    expect(chosen(ada).locator("mark")).to_have_text("heliotrope")
    expect(ada.page.get_by_text("Enter goes to where it was said in “Garden”")).to_be_visible()
    press("Enter")

    expect(palette(ada)).to_have_count(0)
    expect(ada.page.get_by_text("Plant the heliotrope.", exact=True)).to_be_in_viewport()


def test_an_action_is_found_chosen_with_the_arrows_and_run(ada: Person) -> None:
    ada.draft.focus()
    press = ada.page.keyboard.press
    press("Control+k")
    ada.page.keyboard.type("theme")
    expect(chosen(ada)).to_contain_text("Light")
    press("ArrowDown")
    expect(chosen(ada)).to_contain_text("Dark theme")
    press("ArrowUp")
    press("ArrowUp")
    press("ArrowDown")
    press("ArrowDown")
    press("Enter")
    expect(ada.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert theme(ada) == "dark"
    expect(ada.draft).to_be_focused()
    press("Control+k")
    ada.page.keyboard.type("no such thing at all")
    expect(ada.page.get_by_text("Nothing found for “no such thing at all”.").first).to_be_visible()
    press("Escape")

    expect(palette(ada)).to_have_count(0)
    expect(ada.draft).to_be_focused()


def test_a_search_that_fails_says_so(ada: Person) -> None:
    intercept(ada.page, "**/backend-api/conversations?*", lambda route: route.abort())
    ada.page.keyboard.press("Control+k")
    ada.page.keyboard.type("heliotrope")

    expect(ada.page.get_by_role("dialog").get_by_role("alert")).to_contain_text("cannot be reached")


def test_a_question_mark_lists_the_shortcuts_unless_typed_into_a_field(ada: Person) -> None:
    ada.draft.focus()
    ada.page.keyboard.type("Why?")
    expect(ada.draft).to_have_value("Why?")
    expect(ada.page.get_by_role("dialog")).to_have_count(0)
    ada.draft.blur()
    ada.page.keyboard.press("?")

    expect(ada.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_keys_after_escape_go_to_the_page(ada: Person) -> None:
    press = ada.page.keyboard.press
    for _ in range(20):
        ada.draft.blur()
        press("Control+k")
        expect(palette(ada)).to_be_focused()
        press("Escape")
        press("?")
        expect(ada.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        press("Escape")
        expect(ada.page.get_by_role("dialog")).to_have_count(0)


def test_every_listed_shortcut_works(ada: Person) -> None:
    ada.ask("!script\nThe answer is forty-two.")
    ada.allow_clipboard()
    page, press = ada.page, ada.page.keyboard.press
    expect(ada.conversations).to_have_count(1)
    dialog = page.get_by_role("dialog")

    def check_dialog(name: str) -> None:
        expect(page.get_by_role("dialog", name=name)).to_be_visible()
        press("Escape")
        expect(dialog).to_have_count(0)

    def check_folded() -> None:
        expect(ada.button("Show the sidebar")).to_be_visible()
        press("Control+Shift+s")
        expect(ada.button("Fold the sidebar away")).to_be_visible()

    def check_copied() -> None:
        expect(page.get_by_text("The answer is copied.")).to_be_visible()
        assert ada.clipboard == "The answer is forty-two."

    def check_inspector() -> None:
        expect(page.get_by_role("complementary")).to_be_visible()
        press("Escape")
        expect(page.get_by_role("complementary")).to_have_count(0)

    def check_deleted() -> None:
        expect(ada.conversations).to_have_count(0)
        expect(page.get_by_role("button", name="Undo")).to_be_visible()

    def check_restored() -> None:
        expect(ada.answers).to_contain_text("forty-two")

    def check_new_chat() -> None:
        expect(page.get_by_text("What is on your mind?")).to_be_visible()
        page.go_back()
        expect(ada.answers).to_contain_text("forty-two")

    effects: dict[str, Callable[[], None]] = {
        "New chat": check_new_chat,
        "Find a conversation or an action": lambda: check_dialog("Find anything"),
        "Keyboard shortcuts": lambda: check_dialog("Keyboard shortcuts"),
        "Go to the message field": lambda: expect(ada.draft).to_be_focused(),
        "Fold or unfold the list of conversations": check_folded,
        "Copy the last answer": check_copied,
        "Look inside the last answer": check_inspector,
        "Delete this conversation": check_deleted,
        "Undo what was just done": check_restored,
        "Settings: account": lambda: check_dialog("Settings"),
    }
    listed = shortcuts(ada, "Anywhere")
    assert listed.keys() == effects.keys()
    for label, keys in listed.items():
        ada.draft.blur()
        press(keys)
        effects[label]()


def test_the_listed_keys_of_the_draft_and_the_list_work(ada: Person) -> None:
    import_conversations(ada, talk("Planets"), talk("Stars", days=0.001))
    press = ada.page.keyboard.press
    walking = shortcuts(ada, "In the list of conversations")
    row(ada, "Planets").focus()
    press(walking["Conversation below"])
    expect(row(ada, "Stars")).to_be_focused()
    press(walking["Rename"])
    ada.page.get_by_label("New title").fill("Suns")
    press("Enter")
    expect(row(ada, "Suns")).to_be_focused()
    press(walking["Conversation above"])
    expect(row(ada, "Planets")).to_be_focused()
    press(walking["Open"])
    expect(ada.questions).to_contain_text("About Planets.")
    sidebar(ada).get_by_role("link", name="New chat", exact=True).click()
    writing = shortcuts(ada, "While writing")
    ada.draft.focus()
    press(writing["Commands, at the beginning of a message"])
    expect(ada.page.get_by_role("listbox")).to_be_visible()
    press("Backspace")
    ada.page.keyboard.type("one")
    press(writing["New line"])
    ada.page.keyboard.type("two")
    press(writing["Send the message"])

    expect(ada.questions).to_contain_text(re.compile("one.two", re.DOTALL))
    ada.wait_for_answer()
