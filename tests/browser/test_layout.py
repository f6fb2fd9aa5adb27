"""The layout on a phone and at 200 %, and use by keyboard and screen reader."""

from collections.abc import Callable

from playwright.sync_api import Page, ViewportSize, expect
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

PHONE: ViewportSize = {"width": 390, "height": 844}
# A window of 1280 by 720 at 200 %.
MAGNIFIED: ViewportSize = {"width": 640, "height": 360}

PAINTED = """
() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
"""
OVERFLOW = """
() => document.documentElement.scrollWidth - document.documentElement.clientWidth
"""
CUT_OFF = """
() => {
    const over = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body;
    const scrolls = (element, axis) => {
        for (let box = element; box !== null && box !== over; box = box.parentElement)
            if (/auto|scroll/.test(getComputedStyle(box)[axis])) return true;
        return /auto|scroll/.test(getComputedStyle(over)[axis]);
    };
    return [...over.querySelectorAll('button, a[href], input, textarea, select, h1, h2, h3')]
        .filter((one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
        .filter((one) => !one.closest('.skip, .unseen'))
        .filter((one) => {
            const { left, right, top, bottom } = one.getBoundingClientRect();
            return (left < -1 || right > innerWidth + 1) && !scrolls(one, 'overflowX')
                || (top < -1 || bottom > innerHeight + 1) && !scrolls(one, 'overflowY');
        })
        .map((one) => one.ariaLabel ?? one.textContent.trim());
}
"""


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than the window, once its layout is stable."""
    page.evaluate(PAINTED)
    pixels: int = page.evaluate(OVERFLOW)
    return pixels


def cut_off(page: Page) -> list[str]:
    """The elements outside the window that cannot be scrolled into view."""
    page.evaluate(PAINTED)
    names: list[str] = page.evaluate(CUT_OFF)
    return names


def test_a_phone_never_scrolls_horizontally(ada: Person) -> None:
    ada.page.set_viewport_size(PHONE)
    assert overflow(ada.page) == 0
    ada.ask(WIDE)
    assert overflow(ada.page) == 0
    assert ada.messages.evaluate("(list) => list.scrollWidth - list.clientWidth") == 0
    ada.button("Look inside").click()
    ada.page.get_by_role("dialog", name="Inside the answer").wait_for()

    assert overflow(ada.page) == 0


def test_on_a_phone_the_list_is_a_drawer(ada: Person) -> None:
    ada.page.set_viewport_size(PHONE)
    ada.ask("!script\nhello")
    new_chat = ada.page.get_by_role("link", name="New chat", exact=True)
    expect(new_chat).to_be_hidden()
    ada.button("Open menu").click()
    new_chat.click()

    expect(ada.page.get_by_text("What is on your mind?")).to_be_visible()
    expect(new_chat).to_be_hidden()


def test_on_a_phone_the_settings_are_a_list_and_then_a_section(ada: Person) -> None:
    ada.page.set_viewport_size(PHONE)
    ada.page.keyboard.press("Control+,")
    settings = ada.page.get_by_role("dialog", name="Settings")
    settings.get_by_role("link", name="Appearance").click()
    expect(settings.get_by_role("heading", name="Appearance")).to_be_focused()
    expect(settings.get_by_role("link", name="Appearance")).to_be_hidden()
    assert (overflow(ada.page), cut_off(ada.page)) == (0, [])
    settings.get_by_role("button", name="All settings").click()

    expect(settings.get_by_role("link", name="Appearance")).to_be_focused()
    expect(settings.get_by_role("heading", name="Appearance")).to_be_hidden()


def test_at_200_percent_nothing_is_cut_off(ada: Person) -> None:
    page = ada.page
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size(MAGNIFIED)
    expect(page.get_by_text("What is on your mind?")).to_be_visible()
    assert (overflow(page), cut_off(page)) == (0, [])
    ada.ask(WIDE)
    assert (overflow(page), cut_off(page)) == (0, [])
    ada.button("Open menu").click()
    expect(page.get_by_role("link", name="New chat", exact=True)).to_be_in_viewport()
    assert (overflow(page), cut_off(page)) == (0, [])
    page.keyboard.press("Escape")
    for keys in ("Control+Shift+l", "Control+k", "Control+,"):
        page.keyboard.press(keys)
        page.get_by_role("dialog").or_(page.get_by_role("complementary")).first.wait_for()
        assert (overflow(page), cut_off(page)) == (0, []), keys
        page.keyboard.press("Escape")
    for section in ("account", "keys", "appearance", "chat", "servers", "data", "people", "limits"):
        ada.visit(f"/#settings/{section}")
        page.get_by_role("dialog").wait_for()
        assert (overflow(page), cut_off(page)) == (0, []), section


def test_reduced_motion_stops_animations_and_smooth_scrolling(ada: Person) -> None:
    ada.page.emulate_media(reduced_motion="reduce")
    ada.say("!script tokens=4000 pace=20ms first=300ms\nword ")
    moving = """
        () => document.getAnimations().filter((one) => one.playState === 'running'
            && one.effect.getComputedTiming().activeDuration > 50).length
    """
    assert ada.page.evaluate(moving) == 0
    ada.answers.locator(".prose").wait_for()
    assert ada.page.evaluate(moving) == 0
    ada.page.keyboard.press("Control+k")
    ada.page.get_by_role("dialog").wait_for()
    assert ada.page.evaluate(moving) == 0
    ada.page.keyboard.press("Escape")
    ada.stop.click()

    expect(ada.page.get_by_text("You stopped this answer.")).to_be_visible()


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
    keyboard.type("!script pace=20ms tokens=4000")
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


def test_every_control_has_a_name(ada: Person) -> None:
    ada.ask("!script\n```\ncode\n```")
    ada.open_settings()
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
