"""The page on a phone, with the keyboard alone, and for those who do not see it."""

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.world import PASSWORD, Person

WIDE = """!script
A-very-long-word-{}

| one | two | three | four | five | six | seven |
|---|---|---|---|---|---|---|
| aaaaaaaaaaaaaaaa | bbbbbbbbbbbbbbbb | cccccccccccccc | ddddddddddd | eeeeeee | ffffff | g |

```
{}
```
""".format("x" * 300, "y" * 300)

OVERFLOW = """
() => document.documentElement.scrollWidth - document.documentElement.clientWidth
"""


def test_a_phone_never_scrolls_sideways(ada: Person) -> None:
    ada.page.set_viewport_size({"width": 390, "height": 844})
    assert ada.page.evaluate(OVERFLOW) == 0
    ada.ask(WIDE)
    assert ada.page.evaluate(OVERFLOW) == 0
    messages = ada.page.get_by_role("region", name="Messages")
    assert messages.evaluate("(list) => list.scrollWidth - list.clientWidth") == 0
    ada.page.get_by_role("button", name="Look inside").click()

    assert ada.page.evaluate(OVERFLOW) == 0


def test_on_a_phone_the_list_is_a_drawer(ada: Person) -> None:
    ada.page.set_viewport_size({"width": 390, "height": 844})
    ada.ask("!script\nhello")
    expect(ada.page.get_by_role("link", name="New chat")).to_be_hidden()
    ada.page.get_by_role("button", name="Open menu").click()
    ada.page.get_by_role("link", name="New chat").click()

    expect(ada.page.get_by_text("What is on your mind?")).to_be_visible()
    expect(ada.page.get_by_role("link", name="New chat")).to_be_hidden()


def test_the_keyboard_alone_is_enough(new_person: Callable[[], Person]) -> None:
    person = new_person()
    person.visit()
    person.page.get_by_label("Name").wait_for()
    keyboard = person.page.keyboard
    _tab_to(person.page, "Name")
    keyboard.type("ada")
    _tab_to(person.page, "Password")
    keyboard.type(PASSWORD)
    keyboard.press("Enter")
    expect(person.draft).to_be_focused()
    keyboard.type("!script pace=20ms tokens=400")
    keyboard.press("Shift+Enter")
    keyboard.type("on and on ")
    keyboard.press("Enter")
    person.answers.locator(".prose").wait_for()
    _tab_to(person.page, "Stop")
    keyboard.press("Enter")
    expect(person.page.get_by_text("You stopped this answer.")).to_be_visible()
    _tab_to(person.page, "Look inside")
    keyboard.press("Enter")
    expect(person.page.get_by_role("complementary")).to_be_visible()
    keyboard.press("Escape")
    expect(person.page.get_by_role("button", name="Look inside")).to_be_focused()


def test_the_beginning_and_the_end_of_an_answer_are_announced(ada: Person) -> None:
    status = ada.page.get_by_role("main").get_by_role("status")
    ada.say("!script pace=20ms\nsome words that take a little while to be said")
    expect(status).to_have_text("Answering")
    ada.wait_for_answer()

    expect(status).to_have_text("Answer finished")


def test_every_control_has_a_name(ada: Person) -> None:
    ada.ask("!script\n```\ncode\n```")
    ada.page.get_by_role("button", name="Settings").click()
    nameless = ada.page.evaluate("""
        () => [...document.querySelectorAll('button, a, input, textarea, select')]
            .filter((control) => !control.ariaLabel && !control.textContent.trim()
                && !control.labels?.length)
            .map((control) => control.outerHTML)
    """)

    assert nameless == []


def _tab_to(page: Page, label: str) -> None:
    """Presses Tab until the control with this name has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        named = page.evaluate("""
            () => document.activeElement.ariaLabel
                ?? document.activeElement.labels?.[0]?.textContent.trim()
        """)
        if named == label:
            return
    raise AssertionError(f"Tab does not lead to {label!r}.")
