"""Accessibility of every screen: axe rules, keyboard use and announcements."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.axe import accessibility_problems
from tests.browser.screenshots import RICH
from tests.browser.test_sidebar import make_folder, sidebar, take, talk
from tests.browser.world import PASSWORD, Person, intercept

SIZES = {"phone": (390, 844), "laptop": (1280, 800)}
SECTIONS = [
    "Account",
    "API keys",
    "Appearance",
    "Chat",
    "Usage",
    "Shared links",
    "Data",
    "People",
    "Groups",
    "Invitations",
    "Models",
    "Limits",
    "Usage of all",
    "Prices",
    "Activity log",
]

LISTEN = """
() => {
    const live = '[role=status], [role=alert], [role=log], [aria-live]:not([aria-live=off])';
    const regionOf = (node) => (node instanceof Element ? node : node.parentElement)?.closest(live);
    window.announced = [];
    new MutationObserver((changes) => {
        const regions = changes.flatMap(({ target, addedNodes }) =>
            [target, ...addedNodes].map(regionOf));
        for (const region of new Set(regions)) {
            const text = region?.textContent.trim();
            if (text) window.announced.push(text);
        }
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
}
"""
RUNNING = """
async () => {
    const painted = () => new Promise((done) => requestAnimationFrame(done));
    await painted().then(painted);
    return document.getAnimations()
        .filter(({ effect }) => effect.getComputedTiming().activeDuration > 1)
        .map(({ animationName, effect }) => `${animationName} ${effect.target.outerHTML}`);
}
"""
UNSEEN = """
() => {
    const { activeElement: stop } = document;
    if (stop === document.body) return [];
    const { outlineStyle, outlineWidth } = getComputedStyle(stop);
    return outlineStyle === 'none' || outlineWidth === '0px' ? [stop.outerHTML] : [];
}
"""


@pytest.fixture(params=SIZES)
def visitor(request: pytest.FixtureRequest, new_person: Callable[[], Person]) -> Person:
    """A visitor on a phone or a laptop, before the first account exists."""
    person = new_person()
    width, height = SIZES[request.param]
    person.page.set_viewport_size({"width": width, "height": height})
    person.visit()
    return person


@pytest.fixture
def user(visitor: Person) -> Person:
    visitor.create_account("ada")
    return visitor


def has_drawer(person: Person) -> bool:
    return person.button("Open menu").is_visible()


def open_list(person: Person) -> None:
    """Opens the conversation list, which is a drawer on a phone."""
    person.draft.wait_for()
    if has_drawer(person):
        person.button("Open menu").click()


def check(person: Person, shown: Locator) -> None:
    """Waits for an element, and checks the whole screen."""
    expect(shown.first).to_be_visible()
    assert accessibility_problems(person.page) == []


def test_sign_in_pages_are_accessible(visitor: Person, new_person: Callable[[], Person]) -> None:
    page = visitor.page
    check(visitor, page.get_by_role("heading", name="Create the first account"))
    visitor.button("Create account").click()
    check(visitor, page.get_by_text("Choose a name."))
    visitor.create_account("ada")
    invited = new_person()
    invited.visit(visitor.post("invites", {})["path"])
    check(invited, invited.page.get_by_role("heading", name="You are invited"))
    open_list(visitor)
    visitor.sign_out()
    check(visitor, page.get_by_role("heading", name="Sign in"))
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("not the password")
    visitor.button("Sign in").click()
    check(visitor, page.get_by_role("alert"))
    intercept(page, "**/backend-api/**", lambda route: route.abort())
    page.reload()
    check(visitor, page.get_by_role("heading", name="The server cannot be reached"))


def test_a_new_chat_is_accessible(user: Person) -> None:
    page = user.page
    check(user, page.get_by_role("heading", name="What is on your mind?"))
    user.draft.fill("/")
    check(user, page.get_by_role("listbox", name="Commands"))
    user.draft.fill("")
    user.button(re.compile("^Model:")).click()
    check(user, page.get_by_role("dialog", name="Models"))


def test_a_conversation_and_its_actions_are_accessible(user: Person) -> None:
    page = user.page
    user.ask(f"!script\n{RICH}")
    check(user, user.answers.get_by_role("table"))
    user.choose("More", "Share")
    page.get_by_role("dialog").get_by_role("button", name="Make a link").click()
    check(user, page.get_by_role("dialog").get_by_label("Link"))
    page.keyboard.press("Escape")
    user.button("Other ways to answer").click()
    check(user, page.get_by_role("menu"))
    page.keyboard.press("Escape")
    if has_drawer(user):
        user.button("More").click()
        page.get_by_role("menuitemradio", name="Bad answer").click()
    else:
        user.button("Bad answer").click()
    check(user, page.get_by_role("dialog", name="What was wrong with it?"))
    page.keyboard.press("Escape")
    user.button("Edit message").click()
    check(user, page.get_by_label("Edit message").last)
    page.keyboard.press("Escape")
    user.button("Look inside").click()
    inside = page.get_by_role("dialog" if has_drawer(user) else "complementary")
    check(user, inside.get_by_role("heading", name="Tokens of the answer"))


def test_a_running_and_a_failed_answer_are_accessible(user: Person) -> None:
    user.say("!script hang=20 pace=1ms")
    check(user, user.stop)
    user.stop.click()
    user.wait_for_answer()
    check(user, user.page.get_by_text("You stopped this answer."))
    user.say("!script error")
    check(user, user.button("Try again"))
    user.page.context.set_offline(True)
    user.say("Are you there?")
    check(user, user.button("Take it back"))
    user.page.context.set_offline(False)


def test_the_settings_are_accessible(user: Person, new_person: Callable[[], Person]) -> None:
    page = user.page
    guest = new_person()
    guest.visit(user.post("invites", {})["path"])
    guest.create_account("bob")
    user.post("keys", {"label": "laptop"})
    user.ask("Hello")
    user.post(
        f"conversation/{page.url.rsplit('/', 1)[1]}/shares",
        {"current_node": user.stored[-1]["id"]},
    )
    user.visit("/#settings/account")
    settings = page.get_by_role("dialog", name="Settings")
    for section in SECTIONS:
        if settings.get_by_role("button", name="All settings").is_visible():
            settings.get_by_role("button", name="All settings").click()
        settings.get_by_role("link", name=section, exact=True).click()
        check(user, settings.get_by_role("heading", name=section, exact=True))
    check(user, settings)


def test_the_conversation_list_is_accessible(user: Person) -> None:
    page = user.page
    user.post("import", [talk("Planets", "About heliotropes"), talk("Stars", days=3)])
    page.reload()
    open_list(user)
    make_folder(user, "Sky")
    check(user, sidebar(user).get_by_role("link", name="Stars"))
    user.button("Options for Stars").click()
    check(user, page.get_by_role("menu"))
    page.get_by_role("menuitem", name="Move to folder").click()
    check(user, page.get_by_role("dialog", name="Move “Stars”"))
    page.keyboard.press("Escape")
    take(user, "Stars", "Rename")
    check(user, page.get_by_label("New title"))
    page.keyboard.press("Escape")
    take(user, "Stars", "Delete")
    check(user, page.get_by_role("region", name="Notices").get_by_role("button", name="Undo"))
    page.get_by_label("Search conversations").fill("heliotr")
    check(user, sidebar(user).locator("mark"))
    page.get_by_label("Search conversations").fill("")
    user.button("Archived").click()
    check(user, page.get_by_text("Nothing is archived."))


def test_the_palette_and_the_shortcuts_are_accessible(user: Person) -> None:
    page = user.page
    user.post("import", [talk("Planets", "About heliotropes")])
    page.reload()
    user.draft.wait_for()
    page.keyboard.press("Control+k")
    check(user, page.get_by_role("dialog").get_by_role("option", name="Planets"))
    page.keyboard.type("heliotr")
    check(user, page.get_by_role("dialog").locator("mark"))
    page.keyboard.press("Escape")
    user.button("Model:").focus()
    page.keyboard.press("?")
    check(user, page.get_by_role("dialog", name="Keyboard shortcuts"))


def test_shared_and_revoked_pages_are_accessible(
    user: Person, new_person: Callable[[], Person]
) -> None:
    user.ask(f"!script\n{RICH}")
    conversation_id = user.page.url.rsplit("/", 1)[1]
    share = user.post(
        f"conversation/{conversation_id}/shares", {"current_node": user.stored[-1]["id"]}
    )
    reader = new_person()
    reader.page.set_viewport_size(user.page.viewport_size or {"width": 390, "height": 844})
    reader.visit(share["path"])
    check(reader, reader.page.get_by_role("table"))
    reader.visit("/share/nothing")
    check(reader, reader.page.get_by_role("heading", name="There is nothing here"))
    user.visit("/c/nothing")
    check(user, user.page.get_by_role("heading", name="This conversation cannot be opened"))


def test_the_page_is_accessible_in_german_and_right_to_left(user: Person) -> None:
    page = user.page
    user.ask(f"!script\n{RICH}")
    page.evaluate("document.documentElement.dir = 'rtl'")
    check(user, user.answers)
    page.evaluate("localStorage.setItem('hitsend.preferences', '{\"language\":\"de\"}')")
    page.reload()
    check(user, page.get_by_role("article", name="Antwort"))
    user.visit("/#settings/appearance")
    check(user, page.get_by_role("dialog", name="Einstellungen"))


def test_an_answer_is_announced_when_it_begins_and_ends_only(ada: Person) -> None:
    ada.page.evaluate(LISTEN)
    ada.ask("!script tokens=200 pace=5ms batch=2")
    expect(ada.page.get_by_role("status").filter(has_text="Answer finished")).to_be_attached()
    announced: list[str] = ada.page.evaluate("window.announced")

    assert announced[0] == "Answering"
    assert re.fullmatch(r"Answer finished, \d+ words", announced[-1])
    assert len(announced) <= 3


def test_the_keyboard_alone_is_enough(new_person: Callable[[], Person]) -> None:
    person = new_person()
    page, press = person.page, person.page.keyboard.press
    person.visit()
    tab_to(page.get_by_label("Name"))
    page.keyboard.type("ada")
    tab_to(page.get_by_label("Password"))
    page.keyboard.type(PASSWORD)
    press("Enter")
    expect(person.draft).to_be_focused()
    page.keyboard.type("!script hang=3")
    press("Enter")
    expect(person.answers.last).to_contain_text("You")
    tab_to(person.stop)
    press("Enter")
    person.wait_for_answer()
    tab_to(person.button("Copy answer"), "Shift+Tab")
    tab_to(person.button("Answer again"))
    tab_to(person.button("More").last)
    press("Enter")
    expect(page.get_by_role("menu").get_by_role("menuitem").first).to_be_focused()
    press("Escape")
    expect(person.button("More").last).to_be_focused()
    tab_to(person.button("settings and more"), "Shift+Tab")
    press("Enter")
    expect(page.get_by_role("menuitem", name="Settings")).to_be_focused()
    press("Enter")
    settings = page.get_by_role("dialog", name="Settings")
    expect(settings.get_by_role("link", name="Account")).to_be_focused()
    tab_to(settings.get_by_role("link", name="Appearance"))
    press("Enter")
    tab_to(settings.get_by_role("radio", name="System"))
    press("ArrowRight")
    expect(settings.get_by_role("radio", name="Light")).to_be_focused()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    press("Escape")
    expect(settings).to_be_hidden()
    expect(person.button("settings and more")).to_be_focused()
    tab_to(page.get_by_role("button", name="Skip to the message field"), "Shift+Tab")
    press("Enter")

    expect(person.draft).to_be_focused()


def test_reduced_motion_stops_every_animation(ada: Person) -> None:
    page = ada.page
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    ada.say("!script hang=3")
    expect(ada.answers).to_have_attribute("aria-busy", "true")
    assert running(ada) == []
    ada.stop.click()
    ada.wait_for_answer()
    for keys in ("Control+k", "Escape", "Control+,"):
        page.keyboard.press(keys)
        assert running(ada) == []


def test_the_focus_is_visible_in_forced_colors_mode(ada: Person) -> None:
    page = ada.page
    ada.ask("Hello")
    page.emulate_media(forced_colors="active")
    assert unseen_stops(ada, 30) == []
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").wait_for()
    assert unseen_stops(ada, 3) == []
    page.keyboard.press("Escape")
    for section in ("account", "appearance", "chat"):
        page.evaluate("(section) => (location.hash = `settings/${section}`)", section)
        page.get_by_role("dialog", name="Settings").wait_for()
        assert unseen_stops(ada, 25) == []


def tab_to(wanted: Locator, keys: str = "Tab") -> None:
    """Presses Tab until the element has the focus."""
    for _ in range(60):
        if wanted.evaluate("(element) => element === document.activeElement"):
            return
        wanted.page.keyboard.press(keys)
    pytest.fail(f"{wanted} cannot be reached with {keys}.")


def running(person: Person) -> list[str]:
    """The visible animations that are running after the next paint."""
    names: list[str] = person.page.evaluate(RUNNING)
    return names


def unseen_stops(person: Person, num_stops: int) -> list[str]:
    """The tab stops without a visible focus ring."""
    unseen: list[str] = []
    for _ in range(num_stops):
        person.page.keyboard.press("Tab")
        unseen += person.page.evaluate(UNSEEN)
    return unseen
