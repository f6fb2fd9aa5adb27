"""The activity log on the page: who did what, filtered, page by page, exported."""

import json
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Locator, expect
from tests.browser.world import Person, intercept

NUM_KEYS = 60


def entries(settings: Locator) -> Locator:
    return settings.get_by_role("listitem").filter(has_text="127.0.0.1")


def test_entries_read_as_sentences_and_can_be_filtered(ada: Person, bob: Person) -> None:
    ada.patch(f"people/{bob.get('me')['user']['id']}", {"role": "admin"})
    bob.post("keys", {"label": "laptop"})
    settings = ada.open_settings("Activity log")
    changed = entries(settings).filter(has_text="ada made bob an administrator")
    expect(changed).to_have_count(1)
    expect(entries(settings).filter(has_text="The account bob was created")).to_have_count(1)
    settings.get_by_label("Show", exact=True).select_option("Keys, limits, prices, models")
    expect(entries(settings)).to_have_count(1)
    expect(entries(settings)).to_contain_text("A key of bob was made: hs-")
    settings.get_by_label("Show", exact=True).select_option("Everything")
    settings.get_by_label("Person").select_option("bob")
    expect(changed).to_have_count(1)
    expect(entries(settings).filter(has_text="The account ada was created")).to_have_count(0)
    tomorrow = datetime.now(UTC) + timedelta(days=2)
    settings.get_by_label("From", exact=True).fill(f"{tomorrow:%Y-%m-%d}")
    expect(settings).to_contain_text("Nothing matches.")


def test_entries_are_loaded_page_by_page_and_exported(ada: Person) -> None:
    for number in range(NUM_KEYS):
        ada.post("keys", {"label": f"key {number}"})
    settings = ada.open_settings("Activity log")
    settings.get_by_label("Show", exact=True).select_option("Keys, limits, prices, models")
    expect(entries(settings)).to_have_count(50)
    ada.button("Older entries").click()
    expect(entries(settings)).to_have_count(NUM_KEYS)
    expect(settings.get_by_text("There is nothing older.")).to_be_visible()
    expect(ada.button("Older entries")).to_have_count(0)
    with ada.page.expect_download() as download:
        settings.get_by_role("link", name="Export as JSON lines").click()
    exported = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert [one["event"]["kind"] for one in exported] == ["KeyCreated"] * NUM_KEYS


def test_a_log_that_fails_to_load_says_why_and_can_be_retried(ada: Person) -> None:
    intercept(ada.page, "**/admin/audit*", lambda route: route.abort())
    settings = ada.open_settings("Activity log")
    expect(settings.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    ada.page.unroute("**/admin/audit*")
    ada.button("Try again").click()
    expect(entries(settings).filter(has_text="The account ada was created")).to_have_count(1)
