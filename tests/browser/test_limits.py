"""Limits, groups, usage and prices: what administrators set, and what everyone sees of it."""

import re

import pytest
from playwright.sync_api import Browser, Locator, expect
from tests.browser.axe import accessibility_problems
from tests.browser.test_layout import cut_off, overflow
from tests.browser.test_people import line
from tests.browser.test_settings import confirm, part
from tests.browser.world import Person, Server, intercept

PAGES = ["usage", "groups", "limits", "everyone", "prices", "people"]


def change(settings: Locator, title: str) -> None:
    settings.get_by_role("button", name=f"Change: {title}", exact=True).click()


def save(settings: Locator) -> None:
    settings.get_by_role("button", name="Save", exact=True).click()


def put(person: Person, path: str, body: object) -> None:
    person.post(path, body, "PUT")


def group_with(admin: Person, name: str, *people: str) -> str:
    group_id: str = admin.post("groups", {"name": name})["id"]
    for person in admin.get("people")["items"]:
        if person["name"] in people:
            admin.patch(f"people/{person['id']}", {"group_id": group_id})
    return group_id


def test_a_limit_for_everyone_is_set_enforced_and_removed(ada: Person, bob: Person) -> None:
    settings = ada.open_settings("Limits")
    all_of_them = part(settings, "For all")
    expect(line(all_of_them, "Everyone")).to_contain_text("no limit")
    change(settings, "Everyone")
    expect(settings.get_by_label("Requests a minute")).to_be_focused()
    settings.get_by_label("Requests a minute").fill("1")
    settings.get_by_label("Tokens a day").fill("50,000")
    save(settings)
    everyone = line(all_of_them, "Everyone")
    expect(everyone).to_contain_text("1 request a minute · 50,000 tokens a day")
    expect(everyone.get_by_role("status")).to_have_text("Saved.")
    expect(ada.button("Change: Everyone")).to_be_focused()

    bob.ask("Hello")
    bob.say("Hello again")
    expect(bob.page.get_by_role("main")).to_contain_text(re.compile("try again|Too many", re.I))
    change(settings, "Everyone")
    settings.get_by_role("button", name="Remove", exact=True).click()
    expect(everyone).to_contain_text("no limit")
    assert ada.get("limits")["items"] == []


def test_an_address_has_a_token_limit_for_everyone_behind_it(ada: Person, bob: Person) -> None:
    settings = ada.open_settings("Limits")
    change(settings, "Every address")
    expect(settings).to_contain_text("Everyone behind one router shares an address.")
    settings.get_by_label("Tokens a minute").fill("60")
    save(settings)
    address = line(part(settings, "For all"), "Every address")
    expect(address).to_contain_text("60 tokens a minute")

    bob.ask("!script tokens=500")
    ada.open_settings("Usage")
    left = settings.get_by_role("meter", name="Tokens this minute")
    expect(left).to_have_attribute("aria-valuenow", "0")
    expect(left).to_have_attribute("aria-valuemax", "60")


def test_an_invalid_limit_is_reported_at_its_field_and_not_saved(ada: Person) -> None:
    settings = ada.open_settings("Limits")
    change(settings, "Every address")
    requests = settings.get_by_label("Requests a minute")
    expect(settings.get_by_label("Tokens a day")).to_have_count(0)
    for typed, sentence in (
        ("many", "This has to be a number."),
        ("1.5", "This has to be a whole number."),
        ("-3", "This has to be a number."),
        ("1000000000001", "This has to be 0 to 1,000,000,000,000."),
    ):
        requests.fill(typed)
        save(settings)
        expect(requests).to_have_accessible_description(sentence)
        expect(requests).to_be_focused()
    assert ada.get("limits")["items"] == []
    requests.press("Escape")
    expect(requests).to_have_count(0)
    expect(settings).to_be_visible()


def test_a_refused_limit_is_reported_at_its_field_and_stays_typed(
    browser: Browser, server: Server
) -> None:
    # A service worker may let a request through that the test intercepts.
    ada = Person(browser.new_context(service_workers="block").new_page(), server)
    ada.register("ada", "first")
    said = {"message": "Not on a Sunday.", "code": "invalid_request", "param": "tokens_per_day"}
    refuse = "**/backend-api/limits/everyone"
    intercept(ada.page, refuse, lambda route: route.fulfill(status=400, json={"error": said}))
    settings = ada.open_settings("Limits")
    change(settings, "Everyone")
    day = settings.get_by_label("Tokens a day")
    day.fill("7")
    save(settings)
    expect(day).to_have_accessible_description("Not on a Sunday.")
    expect(day).to_have_value("7")
    ada.page.unroute(refuse)
    day.fill("8")
    save(settings)

    expect(line(part(settings, "For all"), "Everyone")).to_contain_text("8 tokens a day")
    ada.page.context.close()


def test_a_person_a_group_and_a_key_have_limits_of_their_own(ada: Person, bob: Person) -> None:
    group_with(ada, "Research", "bob")
    bob.post("keys", {"label": "laptop"})
    settings = ada.open_settings("Limits")
    people = part(settings, "For people and their keys")
    change(settings, "Research")
    settings.get_by_label("Tokens a day, together").fill("9000")
    save(settings)
    expect(line(part(settings, "For groups"), "Research")).to_contain_text("9,000 tokens a day")
    expect(line(people, "bob").first).to_contain_text("as the group Research")
    expect(line(people, "ada")).to_contain_text("as everyone")
    change(settings, "Key laptop")
    settings.get_by_label("Requests a minute").fill("5")
    save(settings)
    expect(line(people, "Key laptop").last).to_contain_text("5 requests a minute")
    change(settings, "bob")
    save(settings)  # empty: no limit, whatever everyone's is
    expect(line(people, "bob").first).to_contain_text("no limit")

    scopes = {item["scope"] for item in ada.get("limits")["items"]}
    assert scopes == {"group", "key", "user"}


def test_groups_are_created_renamed_filled_and_deleted(ada: Person, bob: Person) -> None:
    settings = ada.open_settings("Groups")
    expect(settings.get_by_text("There are no groups.")).to_be_visible()
    ada.button("Make group").click()
    name = settings.get_by_label("Name of a new group")
    expect(name).to_have_accessible_description("Give the group a name.")
    for typed in ("Research", "Teaching"):
        name.fill(typed)
        ada.button("Make group").click()
        expect(ada.button(f"Rename {typed}")).to_be_visible()
    name.fill("research")
    ada.button("Make group").click()
    expect(settings.get_by_role("alert")).to_contain_text("a group with this name already")
    ada.button("Rename Teaching").click()
    expect(settings.get_by_label("New name")).to_be_focused()
    settings.get_by_label("New name").fill("School")
    settings.get_by_label("New name").press("Enter")
    expect(ada.button("Rename School")).to_be_focused()

    ada.button("Tools of School").click()
    tools = settings.get_by_role("group", name="Tools of School")
    expect(tools.get_by_role("switch", name="Weather")).to_be_disabled()
    expect(tools).to_contain_text("Set HITSEND_WEB_SEARCH")
    tools.get_by_role("switch", name="All tools").click()
    tools.get_by_role("switch", name="Run Python").click()
    expect(tools.get_by_role("switch", name="Run Python")).not_to_be_checked()
    expect(tools.get_by_role("switch", name="Calculator")).to_be_checked()
    tools.get_by_role("button", name="Done").click()
    expect(ada.button("Tools of School")).to_be_focused()
    expect(line(settings, "School")).to_contain_text("3 tools")

    people = part(ada.open_settings("People"), "People")
    people.get_by_label("Group of bob").select_option("School")
    expect(people.get_by_role("status")).to_have_text("bob is in the group School now.")
    features = {one["name"] for one in bob.get("tools")["features"]}
    assert features == {"calculator", "time", "conversations"}
    people.get_by_label("Group of ada").select_option("School")
    expect(people.get_by_role("status")).to_have_text("ada is in the group School now.")
    ada.open_settings("Groups")
    expect(line(settings, "School")).to_contain_text("2 people")
    ada.button("Delete School").click()
    confirm(ada, "Delete group")
    expect(line(settings, "School")).to_have_count(0)
    ada.open_settings("People")
    expect(people.get_by_label("Group of bob")).to_have_value("")


def test_usage_shows_used_and_remaining_tokens(ada: Person, bob: Person) -> None:
    settings = bob.open_settings("Usage")
    expect(settings.get_by_text("There is no limit for you.")).to_be_visible()
    expect(settings.get_by_text("Nothing was used in the last 30 days.")).to_be_visible()
    put(ada, "limits/everyone", {"requests_per_minute": 4, "tokens_per_day": 100_000})
    group_with(ada, "Research", "bob")
    bob.page.keyboard.press("Escape")
    bob.ask("!script tokens=30")
    total = bob.get("usage?days=30")["total"]
    num_tokens = total["num_input_tokens"] + total["num_output_tokens"]

    bob.open_settings("Usage")
    requests = settings.get_by_role("meter", name="Requests this minute")
    expect(requests).to_have_attribute("aria-valuenow", "3")
    expect(settings.get_by_role("meter", name="Tokens today")).to_have_attribute(
        "aria-valuenow", str(100_000 - num_tokens)
    )
    expect(part(settings, "Used")).to_contain_text(f"{num_tokens:,}")
    expect(line(part(settings, "By model"), "Scripted")).to_contain_text("1 answer")
    expect(settings.get_by_text("Cost", exact=True)).to_have_count(0)
    expect(settings.get_by_role("table").get_by_role("row")).to_have_count(31)
    settings.get_by_role("radio", name="7 days").check()
    expect(settings.get_by_role("table").get_by_role("row")).to_have_count(8)


def test_a_day_of_the_chart_is_selected_by_pointer_and_keyboard(ada: Person) -> None:
    ada.ask("Hello")
    settings = ada.open_settings("Usage")
    chart = settings.get_by_role("slider", name="Tokens by day")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("1 answer"))
    chart.focus()
    chart.press("ArrowLeft")
    expect(chart).to_have_attribute("aria-valuenow", "29")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("0 answers"))
    chart.press("Home")
    expect(chart).to_have_attribute("aria-valuenow", "1")
    box = chart.bounding_box()
    assert box is not None
    ada.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20)
    expect(chart).to_have_attribute("aria-valuenow", "30")


def test_prices_add_costs_to_the_usage(ada: Person, bob: Person) -> None:
    bob.ask("!script tokens=30")
    group_with(ada, "Research", "bob")
    bob.ask("!script tokens=10")
    settings = ada.open_settings("Prices")
    expect(line(settings, "Scripted")).to_contain_text("no price")
    change(settings, "Scripted")
    save(settings)
    expect(settings.get_by_label("Output")).to_have_accessible_description(
        "This has to be a number."
    )
    settings.get_by_label("Input", exact=True).fill("2000")
    settings.get_by_label("Output").fill("3000.5")
    save(settings)
    expect(line(settings, "Scripted")).to_contain_text(re.compile(r"cached\s\$2,000.00"))
    cost = ada.get("usage/everyone")["total"]["cost"]
    assert cost > 0

    ada.open_settings("Usage of all")
    expect(part(settings, "Used")).to_contain_text(f"${cost:.2f}")
    expect(line(part(settings, "By person"), "bob")).to_contain_text("2 answers")
    expect(line(part(settings, "By group"), "Research")).to_contain_text("1 answer")
    expect(part(settings, "How soon answers begin").get_by_role("row")).to_have_count(3)
    ada.open_settings("Prices")
    change(settings, "Scripted")
    settings.get_by_role("button", name="Remove", exact=True).click()
    expect(line(settings, "Scripted")).to_contain_text("no price")


@pytest.mark.parametrize("path", ["usage?days=30", "limits/mine"])
def test_usage_that_fails_to_load_says_why_and_can_be_retried(ada: Person, path: str) -> None:
    asked = re.compile(f"/backend-api/{re.escape(path)}$")
    intercept(ada.page, asked, lambda route: route.abort())
    settings = ada.open_settings("Usage")
    trouble = settings.get_by_role("alert").filter(has_text="cannot be reached")
    expect(trouble).to_be_visible()
    ada.page.unroute(asked)
    settings.get_by_role("button", name="Try again").click()

    expect(trouble).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_are_accessible_at_every_width(ada: Person, bob: Person, width: int) -> None:
    page = ada.page
    page.set_viewport_size({"width": width, "height": 800})
    group_with(ada, "Research", "ada", "bob")
    bob.post("keys", {"label": "laptop"})
    put(ada, "limits/everyone", {"requests_per_minute": 4, "tokens_per_day": 100})
    put(
        ada,
        f"prices/{ada.get('models')['models'][0]['name']}",
        {"input": 1, "cached": 0.1, "output": 2},
    )
    ada.ask("!script tokens=3")
    for section in PAGES:
        ada.visit(f"/#settings/{section}")
        page.get_by_role("dialog").get_by_role("heading", level=3).wait_for()
        page.wait_for_load_state("networkidle")
        for button in page.get_by_role("button", name=re.compile("^Change: ")).all():
            button.click()
        assert accessibility_problems(page) == [], section
        assert overflow(page) == 0, section
        assert cut_off(page) == [], section
