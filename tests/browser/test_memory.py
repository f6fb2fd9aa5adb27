"""Memories, the profile and temporary chats."""

import json
import re

import pytest
from playwright.sync_api import Locator, Route, expect
from tests.browser.axe import accessibility_problems
from tests.browser.world import Person, intercept

RIGHTMOST = """
Math.max(...[...document.querySelectorAll('dialog *')].map(
    (element) => element.getBoundingClientRect().right))
"""


def part(settings: Locator, name: str) -> Locator:
    return settings.get_by_role("region", name=name)


def remember(person: Person, *texts: str) -> None:
    for text in texts:
        person.post("memories", {"text": text})


def list_of(person: Person) -> Locator:
    return part(person.open_settings("Memory"), "What is remembered")


def rows(memories: Locator) -> Locator:
    return memories.get_by_role("list", name="What is remembered").get_by_role("listitem")


def line_below(person: Person) -> Locator:
    """The memory note below the last answer."""
    said = re.compile("Memory updated|Undone|Remember this|Remembered|Not remembered|Temporary")
    return person.answers.last.get_by_role("status").filter(has_text=said)


def test_an_empty_memory_explains_how_to_fill_it(ada: Person) -> None:
    memories = list_of(ada)

    expect(memories.get_by_text("Nothing is remembered yet")).to_be_visible()
    expect(memories.get_by_text("Remember that I am vegetarian.")).to_be_visible()
    expect(memories.get_by_role("button", name="Forget everything")).to_have_count(0)
    assert accessibility_problems(ada.page) == []


def test_a_memory_is_added_changed_deleted_and_restored(ada: Person) -> None:
    memories = list_of(ada)
    memories.get_by_role("button", name="Remember").click()
    field = memories.get_by_label("Something to remember")
    expect(field).to_have_accessible_description("Write what is to be remembered.")
    field.fill("I like tea.")
    field.press("Enter")
    expect(rows(memories)).to_contain_text("I like tea.")
    expect(rows(memories)).to_contain_text("written here")

    memories.get_by_role("button", name="Edit “I like tea.”").click()
    expect(memories.get_by_label("Memory", exact=True)).to_be_focused()
    memories.get_by_label("Memory", exact=True).fill("I like green tea.")
    ada.page.keyboard.press("Enter")
    expect(rows(memories)).to_contain_text("I like green tea.")
    assert accessibility_problems(ada.page) == []

    memories.get_by_role("button", name="Forget “I like green tea.”").click()
    expect(rows(memories)).to_have_count(0)
    assert ada.get("memories")["total"] == 0
    expect(memories.get_by_role("button", name="Undo")).to_be_focused()
    ada.page.keyboard.press("Enter")
    expect(rows(memories)).to_contain_text("I like green tea.")
    assert [one["text"] for one in ada.get("memories")["items"]] == ["I like green tea."]


def test_escape_cancels_an_edit_and_keeps_the_settings_open(ada: Person) -> None:
    remember(ada, "I like tea.")
    memories = list_of(ada)
    memories.get_by_role("button", name="Edit “I like tea.”").click()
    memories.get_by_label("Memory", exact=True).fill("I like nothing.")
    ada.page.keyboard.press("Escape")

    expect(rows(memories)).to_contain_text("I like tea.")
    expect(memories.get_by_role("button", name="Edit “I like tea.”")).to_be_focused()


def test_many_memories_are_searched_and_loaded_by_page(ada: Person) -> None:
    remember(ada, *[f"Fact number {i}." for i in range(60)])
    memories = list_of(ada)
    expect(memories.get_by_text("60 memories")).to_be_visible()
    expect(rows(memories)).to_have_count(50)
    memories.get_by_role("button", name="Show more").click()
    expect(rows(memories)).to_have_count(60)

    memories.get_by_role("button", name="Forget “Fact number 59.”").click()
    expect(memories.get_by_role("button", name="Undo")).to_be_in_viewport()
    expect(memories.get_by_text("59 memories")).to_be_visible()
    memories.get_by_label("Search memories").fill("number 42")
    expect(memories.get_by_text("1 memory found")).to_be_visible()
    expect(rows(memories)).to_have_text(re.compile("Fact number 42"))
    memories.get_by_label("Search memories").fill("nowhere")
    expect(memories.get_by_text("Nothing that is remembered says “nowhere”.")).to_be_visible()


def test_memories_are_exported_to_a_file(ada: Person) -> None:
    remember(ada, "I like tea.")
    memories = list_of(ada)
    with ada.page.expect_download() as download:
        memories.get_by_role("link", name="Export as a file").click()

    assert "I like tea." in json.dumps(json.loads(download.value.path().read_text()))


def test_deleting_every_memory_needs_typed_confirmation(ada: Person) -> None:
    remember(ada, "I like tea.", "I live in Bern.")
    memories = list_of(ada)
    memories.get_by_role("button", name="Forget everything").click()
    question = ada.page.get_by_role("dialog", name="Forget everything?")
    forget = question.get_by_role("button", name="Forget everything")
    expect(question).to_contain_text("2 memories go for good")
    expect(forget).to_be_disabled()
    question.get_by_label("Type “forget” to confirm").fill("forget")
    forget.click()

    expect(memories.get_by_text("Nothing is remembered yet")).to_be_visible()
    expect(memories.get_by_text("Everything is forgotten.")).to_be_visible()
    assert ada.get("memories")["total"] == 0


def test_deleting_all_during_a_search_counts_every_memory(ada: Person) -> None:
    remember(ada, "I like tea.", "I live in Bern.", "My cat is called Mia.")
    settings = ada.open_settings("Memory")
    memories = part(settings, "What is remembered")
    memories.get_by_label("Search memories").fill("tea")
    expect(memories.get_by_text("1 memory found")).to_be_visible()

    memories.get_by_role("button", name="Forget everything").click()
    question = ada.page.get_by_role("dialog", name="Forget everything?")
    expect(question).to_contain_text("3 memories go for good")
    question.get_by_role("button", name="Cancel").click()
    settings.get_by_role("switch", name="Use memory").click()
    question = ada.page.get_by_role("dialog", name="Turn memory off?")
    expect(question).to_contain_text("You have 3 memories.")


def test_an_instruction_is_marked_as_not_shown_to_the_model(ada: Person) -> None:
    memories = list_of(ada)
    field = memories.get_by_label("Something to remember")
    field.fill("Always answer in one word.")
    field.press("Enter")
    expect(memories.get_by_text("Remembered, but not shown to the model")).to_be_visible()
    expect(rows(memories)).to_contain_text("Not shown to the model: it says what to do")
    rows(memories).get_by_role("link", name="About you").scroll_into_view_if_needed()
    assert accessibility_problems(ada.page) == []
    field.fill("I like tea.")
    field.press("Enter")
    expect(memories.get_by_text("Remembered.", exact=True)).to_be_visible()
    expect(rows(memories).filter(has_text="Not shown to the model")).to_have_count(1)

    rows(memories).get_by_role("link", name="About you").click()
    expect(ada.page.get_by_label("How should answers be?")).to_be_visible()


@pytest.mark.parametrize(("action", "num_kept"), [("and keep", 1), ("and delete all", 0)])
def test_turning_memory_off_keeps_or_deletes_the_memories(
    ada: Person, action: str, num_kept: int
) -> None:
    remember(ada, "I like tea.")
    settings = ada.open_settings("Memory")
    switch = settings.get_by_role("switch", name="Use memory")
    expect(switch).to_be_checked()
    switch.click()
    question = ada.page.get_by_role("dialog", name="Turn memory off?")
    assert accessibility_problems(ada.page) == []
    question.get_by_role("button", name="Cancel").click()
    expect(switch).to_be_checked()
    switch.click()
    question.get_by_role("button", name=f"Turn off {action}").click()

    expect(switch).not_to_be_checked()
    expect(settings.get_by_role("switch", name="Suggest memories")).to_be_disabled()
    assert ada.get("memories")["total"] == num_kept
    assert ada.get("user_system_messages")["uses_memory"] is False
    switch.click()
    expect(settings.get_by_text("Memory is on.")).to_be_visible()


def test_suggestions_are_off_by_default(ada: Person) -> None:
    settings = ada.open_settings("Memory")
    suggestions = settings.get_by_role("switch", name="Suggest memories")
    expect(suggestions).not_to_be_checked()
    suggestions.click()
    expect(suggestions).to_be_checked()
    assert ada.get("user_system_messages")["suggests_memories"] is True


def test_the_profile_is_saved_and_its_characters_counted(ada: Person) -> None:
    settings = ada.open_settings("About you")
    name = settings.get_by_label("What should I call you?")
    name.fill("Ada")
    settings.get_by_label("How should answers be?").fill("Short.")
    about = settings.get_by_label("What should be known about you?")
    about.fill("x" * 1_501)
    expect(settings.get_by_text("1,501 of 1,500 characters")).to_be_visible()
    settings.get_by_role("button", name="Save").click()
    expect(about).to_have_accessible_description(re.compile("at most 1,500 fit"))
    assert accessibility_problems(ada.page) == []
    about.fill("I build engines.")
    settings.get_by_role("button", name="Save").click()
    expect(settings.get_by_text("Saved.")).to_be_visible()

    settings.get_by_role("switch", name="Tell the model about me").click()
    expect(settings.get_by_text("told to nobody")).to_be_visible()
    kept = ada.get("user_system_messages")
    assert (kept["call_me"], kept["about_me"], kept["style"]) == (
        "Ada",
        "I build engines.",
        "Short.",
    )
    assert kept["is_on"] is False


def test_an_older_tab_does_not_turn_memory_back_on(ada: Person) -> None:
    settings = ada.open_settings("About you")
    settings.get_by_label("What should I call you?").fill("Ada")
    ada.post("user_system_messages", {"uses_memory": False}, "PUT")
    settings.get_by_role("button", name="Save").click()
    expect(settings.get_by_text("Saved.")).to_be_visible()
    settings.get_by_role("switch", name="Tell the model about me").click()
    expect(settings.get_by_text("told to nobody")).to_be_visible()

    kept = ada.get("user_system_messages")
    assert (kept["call_me"], kept["is_on"], kept["uses_memory"]) == ("Ada", False, False)


def test_memories_and_the_profile_fit_a_phone(ada: Person) -> None:
    remember(ada, "I like " + "very " * 60 + "strong tea.")
    ada.page.set_viewport_size({"width": 360, "height": 740})
    for section in ("memory", "profile"):
        ada.visit(f"/#settings/{section}")
        ada.page.get_by_role("switch").first.wait_for()
        edge = ada.page.evaluate(RIGHTMOST)
        assert edge <= 360
        assert accessibility_problems(ada.page) == []


def test_an_added_memory_is_shown_below_the_answer_and_undone(ada: Person) -> None:
    ada.ask("Remember that I like tea.")
    line = line_below(ada)
    expect(line).to_contain_text("Memory updated: “I like tea.”")
    assert accessibility_problems(ada.page) == []
    ada.page.reload()
    expect(line).to_contain_text("Memory updated: “I like tea.”")

    ada.button("Undo: Memory updated").click()
    expect(line).to_have_text("Undone: this is not remembered.")
    expect(line).to_be_focused()
    assert ada.get("memories")["total"] == 0
    ada.page.reload()
    expect(line).to_have_text("Undone: this is not remembered.")


def test_a_memory_removed_in_a_chat_is_restored(ada: Person) -> None:
    remember(ada, "I like tea.")
    ada.ask("Forget that I like tea.")
    line = line_below(ada)
    expect(line).to_have_text("Memory updated")
    assert ada.get("memories")["total"] == 0
    ada.button("Undo: Memory updated").click()

    expect(line).to_have_text("Undone: this is remembered again.")
    assert ada.get("memories")["total"] == 1


def test_an_answer_lists_the_memories_it_used_for_editing(ada: Person) -> None:
    remember(ada, "My favourite drink is green tea.", "I live in Bern.")
    ada.ask("What is my favourite drink?")
    used = ada.button("Used 1 memory")
    used.click()
    popover = ada.page.get_by_role("dialog", name="Memories that were used")
    expect(popover.get_by_role("listitem")).to_contain_text("My favourite drink is green tea.")
    assert accessibility_problems(ada.page) == []
    popover.get_by_role("button", name="Forget").click()
    expect(popover.get_by_text("Forgotten.")).to_be_visible()
    assert ada.get("memories")["total"] == 1
    popover.get_by_role("button", name="Undo").click()
    expect(popover.get_by_role("listitem")).to_contain_text("My favourite drink is green tea.")
    ada.page.keyboard.press("Escape")
    expect(popover).to_be_hidden()
    expect(used).to_be_focused()


def test_the_context_of_an_answer_is_shown(ada: Person) -> None:
    ada.post("user_system_messages", {"call_me": "Countess"}, "PUT")
    remember(ada, "My favourite drink is green tea.")
    ada.ask("What is my favourite drink?")
    ada.choose("More", "What the model saw")
    seen = ada.page.get_by_role("dialog", name="What the model saw")

    expect(seen.get_by_text("It saw the whole conversation.")).to_be_visible()
    expect(seen.get_by_text("Countess")).to_be_visible()
    expect(seen.get_by_text("My favourite drink is green tea.")).to_be_visible()
    expect(seen.get_by_text("What the window was filled with")).to_be_visible()
    assert accessibility_problems(ada.page) == []


def test_a_temporary_chat_is_in_no_list_and_stays_at_its_address(ada: Person) -> None:
    switch = ada.page.get_by_role("switch", name="Temporary chat")
    switch.click()
    expect(switch).to_be_checked()
    expect(ada.page.get_by_role("heading", name="Temporary chat")).to_be_visible()
    assert accessibility_problems(ada.page) == []
    ada.ask("Remember that I like tea.")

    expect(ada.page.get_by_role("main").get_by_text("Temporary chat", exact=True)).to_be_visible()
    expect(line_below(ada)).to_have_text("Temporary chats remember nothing.")
    expect(ada.conversations).to_have_count(0)
    assert ada.get("memories")["total"] == 0
    assert ada.get("conversations")["total"] == 0
    ada.page.reload()
    expect(ada.questions).to_have_text(re.compile("Remember that I like tea."))
    expect(line_below(ada)).to_have_text("Temporary chats remember nothing.")
    expect(ada.page.get_by_role("main").get_by_text("Temporary chat", exact=True)).to_be_visible()
    assert accessibility_problems(ada.page) == []
    ada.page.keyboard.press("ControlOrMeta+Shift+o")
    expect(switch).not_to_be_checked()


def test_a_temporary_chat_is_started_by_keyboard(ada: Person) -> None:
    ada.draft.fill("/temporary")
    ada.page.keyboard.press("Enter")
    expect(ada.page.get_by_role("switch", name="Temporary chat")).to_be_checked()


def test_the_draft_of_a_temporary_chat_is_not_stored(ada: Person) -> None:
    kept = "Object.values(localStorage).join()"
    ada.draft.fill("I am afraid of quinces.")
    ada.page.reload()
    expect(ada.draft).to_have_value("I am afraid of quinces.")
    ada.page.get_by_role("switch", name="Temporary chat").click()
    expect(ada.draft).to_have_value("I am afraid of quinces.")
    assert "quinces" not in ada.page.evaluate(kept)
    ada.ask("Hello")
    ada.draft.fill("I am afraid of quinces.")
    ada.page.reload()

    expect(ada.questions).to_have_count(1)
    expect(ada.draft).to_have_value("")
    assert "quinces" not in ada.page.evaluate(kept)


def suggest(person: Person, text: str) -> None:
    """Fakes a suggestion of the model: the scripted engine makes none."""
    person.post("memories", {"text": text})
    [memory] = person.get("memories")["items"]
    changed = [{"memory_id": memory["id"], "change": "suggested"}]

    def tell(route: Route) -> None:
        told = route.fetch().json()
        for node in told["mapping"].values():
            if node["message"] and node["message"]["author"]["role"] == "assistant":
                node["message"]["metadata"]["seen"]["changed"] = changed
        route.fulfill(json=told)

    def show(route: Route) -> None:
        named = {"items": [memory | {"is_suggested": True}], "total": 1}
        route.fulfill(json=named)

    intercept(person.page, "**/backend-api/conversation/*", tell)
    intercept(person.page, "**/backend-api/memories?ids=*", show, times=1)


@pytest.mark.parametrize(
    ("choice", "outcome", "kept"), [("Yes", "Remembered: “", 1), ("No", "Not remembered.", 0)]
)
def test_a_suggested_memory_is_kept_only_if_accepted(
    ada: Person, choice: str, outcome: str, kept: int
) -> None:
    ada.ask("I live in Bern. Where is a good bakery?")
    suggest(ada, "I live in Bern.")
    ada.page.reload()
    line = line_below(ada)
    expect(line).to_contain_text("Remember this? “I live in Bern.”")
    assert accessibility_problems(ada.page) == []
    ada.answers.last.get_by_role("button", name=choice, exact=True).click()

    expect(line).to_contain_text(outcome)
    expect(line).to_be_focused()
    assert ada.get("memories")["total"] == kept
