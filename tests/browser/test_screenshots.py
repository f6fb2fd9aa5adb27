"""The main screens look like their approved screenshots.

Everything that changes from day to day is fixed: the clock, the time zone, the names, motion and
the cursor.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, expect
from tests.browser.screenshots import RICH, Album
from tests.browser.world import Person, Server
from tests.unit.import_export.sample_exports import Json, conversation, node

NOW = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
SIZES = {390: 780, 1280: 720, 1920: 900}
THEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
TITLES = {
    "How a circle grows": 0,
    "A walk along the river": 1,
    "Names for a small boat": 2,
    "Bread without kneading": 26,
    "Why the sky is dark at night": 51,
    "Letters to the landlord": 300,
}
"""Conversations, and how many hours ago they were updated."""


class Photographer:
    """Takes screenshots in both themes."""

    def __init__(self, person: Person, width: int, album: Album) -> None:
        self.person = person
        self.album = album
        self._width = width

    def take(self, name: str, shown: Locator, *, only: Locator | None = None) -> None:
        page = self.person.page
        expect(shown.first).to_be_visible()
        page.mouse.move(0, 0)
        hidden = [page.get_by_text("A copy of a conversation, shared on")]
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            page.evaluate("document.fonts.ready")
            screenshot = (only or page).screenshot(
                animations="disabled", mask=hidden, mask_color="grey"
            )
            self.album.compare(f"{name}-{self._width}-{theme}", screenshot)


@pytest.fixture(params=SIZES)
def photographer(
    request: pytest.FixtureRequest, browser: Browser, server: Server, tmp_path: Path
) -> Iterator[Photographer]:
    width: int = request.param
    context = browser.new_context(
        viewport={"width": width, "height": SIZES[width]}, timezone_id="UTC", locale="en-US"
    )
    person = Person(context.new_page(), server)
    person.page.clock.set_fixed_time(NOW)
    comparer = browser.new_page()
    yield Photographer(person, width, Album(comparer, tmp_path))
    comparer.close()
    context.close()


def talk(title: str, hours: float, answer: str) -> Json:
    when = NOW.timestamp() - 3600 * hours
    nodes = [
        node(f"{title} 1", None, "user", f"{title}?", create_time=when - 60),
        node(f"{title} 2", f"{title} 1", "assistant", answer, create_time=when),
    ]
    times = {"create_time": when, "update_time": when}
    return conversation(*nodes, title=title, conversation_id=title, **times)


def test_the_main_screens_look_as_approved(photographer: Photographer) -> None:
    person, page = photographer.person, photographer.person.page
    person.visit()
    photographer.take("first-account", page.get_by_role("heading", name="Create the first account"))
    person.create_account("ada")
    photographer.take("welcome", page.get_by_text("Scripted answers here."))

    person.post("import", [talk(title, ago, RICH) for title, ago in TITLES.items()])
    ids = {item["title"]: item["id"] for item in person.get("conversations")["items"]}
    folder = person.post("folders", {"name": "Home"})["id"]
    person.patch(f"conversation/{ids['Letters to the landlord']}", {"folder_id": folder})
    person.patch(f"conversation/{ids['Names for a small boat']}", {"is_pinned": True})
    rich = f"conversation/{ids['How a circle grows']}"
    leaf = person.get(rich)["current_node"]
    share = person.post(f"{rich}/shares", {"current_node": leaf})

    person.visit(f"/c/{ids['How a circle grows']}")
    expect(person.answers.locator("math")).to_have_count(2)
    photographer.take("chat", person.answers.locator(".keyword"))
    if person.button("Open menu").is_visible():
        person.button("Open menu").click()
    sidebar = page.get_by_role("navigation", name="Conversations")
    sidebar.get_by_role("button", name="Home", exact=True).click()
    photographer.take("sidebar", sidebar.get_by_role("link", name="Letters"), only=sidebar)
    page.get_by_label("Search conversations").fill("radius")
    photographer.take("search", sidebar.locator("mark"), only=sidebar)

    person.visit("/")
    page.get_by_text("Scripted answers here.").wait_for()
    page.keyboard.press("Control+k")
    photographer.take("palette", page.get_by_role("option", name="A walk along the river"))
    page.keyboard.press("Escape")
    page.evaluate("location.hash = 'settings/appearance'")
    photographer.take("settings", page.get_by_role("radio", name="Airy"))
    person.visit(share["path"])
    photographer.take("shared", page.locator(".keyword"))

    assert photographer.album.differences == []
