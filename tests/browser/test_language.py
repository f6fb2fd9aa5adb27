"""The page in German, and right to left."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.browser.test_layout import cut_off, overflow
from tests.browser.test_shared import share
from tests.browser.test_sidebar import talk
from tests.browser.world import PASSWORD, ROOT, Person, Server

SECTIONS = [
    "account",
    "keys",
    "appearance",
    "chat",
    "tools",
    "servers",
    "usage",
    "shares",
    "data",
    "people",
    "groups",
    "invites",
    "models",
    "limits",
    "everyone",
    "prices",
    "prompts",
    "comparisons",
    "activity",
]
SAID = """
() => [
    ...document.body.innerText.split('\\n'),
    ...[...document.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap(
        (element) => [element.ariaLabel, element.title, element.placeholder])
].map((text) => text?.trim()).filter(Boolean)
"""


def phrases(language: str) -> set[str]:
    """All texts of the catalogue, without their names and numbers."""
    found: set[str] = set()
    for path in Path(ROOT, "web/src/words", language).glob("*.ts"):
        source = re.sub(r"^import .*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for plain, template in re.findall(r"'((?:[^'\\\n]|\\.)*)'|`([^`]*)`", source):
            found |= {part.strip() for part in re.split(r"\$\{[^}]*\}|\\n", plain or template)}
    return {phrase for phrase in found if re.search(r"[^\W\d_]{4}", phrase)}


def left_in_english(person: Person) -> set[str]:
    english = phrases("en") - phrases("de")
    sentences = [phrase for phrase in english if len(phrase) > 9 and " " in phrase]
    said: list[str] = person.page.evaluate(SAID)
    return {text for text in said if text in english or any(phrase in text for phrase in sentences)}


@pytest.fixture
def greta(browser: Browser, server: Server) -> Iterator[Person]:
    """A person whose browser prefers German."""
    person = Person(browser.new_page(locale="de-DE"), server)
    person.visit()
    yield person
    violations = person.violations
    person.page.context.close()
    assert violations == []


def enter(greta: Person) -> None:
    greta.page.get_by_label("Name").fill("greta")
    greta.page.get_by_label("Passwort").fill(PASSWORD)
    greta.page.get_by_label("Passwort").press("Enter")


def test_no_english_word_is_left_in_the_german_page(greta: Person) -> None:
    page = greta.page
    page.get_by_label("Passwort").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"
    assert left_in_english(greta) == set()
    enter(greta)
    draft = page.get_by_label("Nachricht", exact=True)
    draft.wait_for()
    assert left_in_english(greta) == set()
    draft.fill("!script\nGuten Tag")
    draft.press("Enter")
    answer = page.get_by_role("article", name="Antwort").filter(has_text="Guten Tag")
    expect(answer).to_have_attribute("aria-busy", "false")
    expect(page.get_by_role("region", name="Heute")).to_be_visible()
    assert left_in_english(greta) == set()
    closed = page.get_by_role("button", expanded=False)
    for label in [menu.get_attribute("aria-label") for menu in closed.all()]:
        page.get_by_role("button", name=label, exact=True).click()
        page.get_by_role("button", name=label, exact=True, expanded=True).wait_for()
        assert left_in_english(greta) == set()
        page.keyboard.press("Escape")
    path = share(greta)["path"]
    for keys in ("Control+Shift+l", "Control+k", "?"):
        draft.blur()
        page.keyboard.press(keys)
        page.get_by_role("dialog").or_(page.get_by_role("complementary")).first.wait_for()
        assert left_in_english(greta) == set()
        page.keyboard.press("Escape")
    greta.visit("/c/nowhere")
    page.get_by_role("heading", level=2).first.wait_for()
    assert left_in_english(greta) == set()
    greta.visit(path)
    page.get_by_role("article").first.wait_for()
    assert left_in_english(greta) == set()


def test_no_english_word_is_left_in_the_german_settings(greta: Person) -> None:
    enter(greta)
    greta.page.get_by_label("Nachricht", exact=True).wait_for()
    greta.post("import", [talk("Rom")])
    greta.post("keys", {"label": "Laptop"})
    greta.post("invites", {})
    for section in SECTIONS:
        greta.visit(f"/#settings/{section}")
        settings = greta.page.get_by_role("dialog")
        settings.get_by_role("heading", level=3).wait_for()
        expect(settings.get_by_text("Wird geladen")).to_have_count(0)
        assert left_in_english(greta) == set(), section


def test_english_words_are_recognised(ada: Person) -> None:
    """Checks the detector of the two tests above."""
    assert {"New chat", "Search conversations", "What is on your mind?"} <= left_in_english(ada)


@pytest.mark.parametrize("width", [390, 1280])
def test_right_to_left_mirrors_the_whole_page(ada: Person, width: int) -> None:
    page = ada.page
    page.emulate_media(reduced_motion="reduce")
    ada.post("import", [talk("Planets"), talk("Stars")])
    ada.ask("!script\n## מה שלומך?\n\n```\n" + "x" * 300 + "\n```\n\n1. one\n2. two")
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate("document.documentElement.dir = 'rtl'")
    assert (overflow(page), cut_off(page)) == (0, [])
    if width < 700:
        ada.button("Open menu").click()
    nav = page.get_by_role("navigation", name="Conversations")
    expect(nav).to_be_in_viewport()
    box = nav.bounding_box()
    assert box is not None
    assert abs(box["x"] + box["width"] - width) <= 2
    assert (overflow(page), cut_off(page)) == (0, [])
    page.keyboard.press("Escape")
    for keys in ("Control+Shift+l", "Control+k", "Control+,"):
        page.keyboard.press(keys)
        page.get_by_role("dialog").or_(page.get_by_role("complementary")).first.wait_for()
        assert (overflow(page), cut_off(page)) == (0, []), keys
        page.keyboard.press("Escape")
