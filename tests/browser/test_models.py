"""Choosing and downloading models."""

import re

from playwright.sync_api import Locator, Route, expect
from tests.browser.world import Person, Server, intercept


def open_picker(person: Person) -> Locator:
    person.button(re.compile("^Model: ")).click()
    return person.page.get_by_role("dialog", name="Models")


def test_a_model_is_downloaded_chosen_and_used(ada: Person) -> None:
    picker = open_picker(ada)
    here = picker.get_by_role("list", name="Models", exact=True)
    expect(here.get_by_role("listitem")).to_have_count(1)
    expect(here).to_contain_text("Good at short answers and using tools.")
    expect(here).to_contain_text("speed not measured yet")
    expect(here).to_contain_text("8,192 tokens of context")
    expect(here).to_contain_text("this machine")
    expect(picker.get_by_role("list", name="More models")).to_contain_text("2 MB")
    ada.record_announcements("[role=dialog], dialog", r"[\d.]+ MB of 2 MB")
    picker.get_by_role("button", name="Fetch Scripted small").click()
    expect(here.get_by_role("listitem")).to_have_count(2)
    expect(picker.get_by_role("progressbar")).to_be_hidden()
    assert ada.announced
    here.get_by_role("button", name="Scripted small").click()
    expect(picker).to_be_hidden()
    expect(ada.button("Model: Scripted small")).to_be_visible()
    ada.ask("!script\nhello")

    assert ada.stored[-1]["metadata"]["model_slug"] == "scripted-small"
    ada.page.reload()
    expect(ada.button("Model: Scripted small")).to_be_visible()


def test_the_speed_of_a_model_is_measured(ada: Person, server: Server) -> None:
    ada.ask("!script tokens=60 pace=2ms\nword ")
    server.stop()
    server.start()
    ada.page.reload()

    expect(open_picker(ada).get_by_role("button", name="Scripted", pressed=True)).to_contain_text(
        re.compile(r"[\d.]+ tokens/s")
    )


def test_a_member_sees_the_models_and_is_referred_to_an_administrator(
    ada: Person, bob: Person
) -> None:
    picker = open_picker(bob)

    expect(picker.get_by_role("list", name="More models")).to_contain_text("Scripted small")
    expect(picker.get_by_text("An administrator of this server can fetch them.")).to_be_visible()
    expect(picker.get_by_role("button", name=re.compile("Fetch|Manage"))).to_have_count(0)
    bob.page.keyboard.press("Escape")
    expect(picker).to_be_hidden()
    expect(bob.button(re.compile("^Model: "))).to_be_focused()


def test_the_keyboard_alone_is_enough_to_choose(ada: Person) -> None:
    ada.page.get_by_role("button", name="Model: Scripted", exact=True).focus()
    ada.page.keyboard.press("Enter")
    picker = ada.page.get_by_role("dialog", name="Models")
    expect(picker.get_by_role("button", name="Scripted", pressed=True)).to_be_focused()
    ada.page.keyboard.press("ArrowDown")
    expect(picker.get_by_role("button", name="Fetch Scripted small")).to_be_focused()
    ada.page.keyboard.press("ArrowUp")
    ada.page.keyboard.press("Enter")

    expect(picker).to_be_hidden()
    expect(ada.button("Model: Scripted")).to_be_focused()


def test_a_download_is_shown_in_the_conversation(ada: Person) -> None:
    half = {"name": "scripted-small", "num_done_bytes": 1_000_000, "num_bytes": 2_000_000}

    def tell(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"downloads": [half | {"problem": None}]})

    intercept(ada.page, "**/backend-api/status", tell)
    ada.page.reload()
    progress = ada.page.get_by_role("progressbar", name="Fetching Scripted small")
    expect(progress).to_be_visible()
    ada.button("Hide the download of Scripted small").click()

    expect(progress).to_be_hidden()
