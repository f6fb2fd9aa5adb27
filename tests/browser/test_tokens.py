"""The tokens page: typing, comparing, selecting and announcing."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.axe import accessibility_problems
from tests.browser.test_models import open_picker
from tests.browser.world import Person

SIZES = {"phone": (390, 844), "laptop": (1280, 800)}


def tokens(person: Person, model: str = "Scripted") -> Locator:
    return person.page.get_by_role("listbox", name=f"Tokens of {model}")


def open_tokens(person: Person) -> None:
    """Opens the tokens page from the palette."""
    person.page.keyboard.press("ControlOrMeta+k")
    person.page.keyboard.type("tokenizer")
    person.page.keyboard.press("Enter")
    person.page.get_by_role("heading", name="Text becomes tokens").wait_for()


def write(person: Person, text: str) -> None:
    person.page.get_by_label("Text", exact=True).fill(text)


def test_text_is_tokenized_while_typed(ada: Person) -> None:
    open_tokens(ada)
    write(ada, "Hello there\n\tmy friend")
    expect(tokens(ada).get_by_role("option")).to_have_text(
        ["Hello", "·there", "↵\n", "→\tmy", "·friend"], use_inner_text=False
    )
    expect(ada.page.get_by_text("5 tokens")).to_be_visible()
    expect(ada.page.get_by_text("22 characters", exact=True)).to_be_visible()
    expect(ada.page.get_by_text("4.4 characters per token")).to_be_visible()
    write(ada, "")
    expect(ada.page.get_by_text("0 tokens")).to_be_visible()
    expect(tokens(ada)).to_have_count(0)


def test_the_inspector_links_to_the_tokens_page(ada: Person) -> None:
    ada.ask("!script\none two three")
    ada.button("Look inside").click()
    ada.page.get_by_role("link", name="See any text as tokens").click()
    expect(ada.page.get_by_role("heading", name="Text becomes tokens")).to_be_visible()


def test_a_token_shows_its_id_and_bytes_by_pointer_and_keyboard(ada: Person) -> None:
    ada.visit("/tokens")
    write(ada, "Hello there")
    told = ada.page.get_by_role("status").filter(has_text="bytes")
    tokens(ada).get_by_role("option").nth(1).hover()
    expect(told).to_contain_text("bytes 20 74 68 65 72 65")
    expect(told).to_contain_text(re.compile(r"id \d+"))
    tokens(ada).focus()
    ada.page.keyboard.press("Home")
    expect(told).to_contain_text("bytes 48 65 6C 6C 6F")
    ada.page.keyboard.press("ArrowRight")
    expect(tokens(ada).get_by_role("option", selected=True)).to_have_text("·there")


def test_two_models_are_compared_side_by_side(ada: Person) -> None:
    picker = open_picker(ada)
    picker.get_by_role("button", name="Fetch Scripted small").click()
    here = picker.get_by_role("list", name="Models", exact=True)
    expect(here.get_by_role("listitem")).to_have_count(2)
    ada.visit("/tokens")
    write(ada, "Hello there")
    expect(tokens(ada).get_by_role("option")).to_have_count(2)
    ada.page.get_by_label("Compare with").select_option("Scripted small")
    expect(tokens(ada, "Scripted small").get_by_role("option")).to_have_count(2)


def test_a_long_text_is_fast_and_says_how_much_is_left_out(ada: Person) -> None:
    ada.visit("/tokens")
    write(ada, "word " * 20_000)
    expect(ada.page.get_by_text("The first 4,000 of")).to_be_visible()
    expect(tokens(ada).get_by_role("option")).to_have_count(4000)


def test_the_link_back_opens_the_chat_and_discards_the_text(ada: Person) -> None:
    ada.visit("/tokens")
    write(ada, "heliotrope")
    expect(tokens(ada)).to_contain_text("heliotro")
    ada.page.get_by_role("link", name="Back to the chat").click()
    expect(ada.draft).to_be_visible()
    ada.visit("/tokens")
    expect(ada.page.get_by_label("Text", exact=True)).not_to_have_value("heliotrope")


@pytest.mark.parametrize("size", SIZES)
def test_the_tokens_page_is_accessible(new_person: Callable[[], Person], size: str) -> None:
    person = new_person()
    width, height = SIZES[size]
    person.page.set_viewport_size({"width": width, "height": height})
    person.register("ada", "first")
    person.visit("/tokens")
    write(person, "Hello there, 🍞 and a good morning to you")
    expect(tokens(person)).to_be_visible()
    assert accessibility_problems(person.page) == []
    wide = person.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide


def test_a_sent_message_is_shown_as_it_is_stored(ada: Person) -> None:
    ada.ask("pay\u202epal\u200b e\u0301")
    expect(ada.questions.last).to_contain_text("pay[U+202E]pal é")
    assert ada.stored[0]["content"]["parts"] == ["pay[U+202E]pal é"]
