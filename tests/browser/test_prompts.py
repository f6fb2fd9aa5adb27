"""Administration of prompts: versions, comparisons and the log of what administrators changed."""

import re

import pytest
from playwright.sync_api import Locator, expect
from tests.browser.axe import accessibility_problems
from tests.browser.test_layout import cut_off, overflow
from tests.browser.test_people import line
from tests.browser.test_settings import part
from tests.browser.world import Person

from hitsend.prompts import shipped_prompts

SHIPPED = shipped_prompts()["system"].version
OWN = "{{ instructions }}\nSpeak like a pirate."


def open_prompt(person: Person, name: str = "System instructions") -> Locator:
    """Opens a prompt in the settings."""
    settings = person.open_settings("Prompts")
    settings.get_by_role("button", name=re.compile(f"^{name}")).click()
    expect(settings.get_by_role("heading", name=name, exact=True)).to_be_focused()
    return settings


def create_version(person: Person, template: str = OWN, note: str = "") -> int:
    """Creates a version through the API."""
    body = {"template": template, "note": note}
    version: int = person.post("admin/prompts/system/versions", body)["version"]
    return version


def active_version(person: Person, name: str = "system") -> int:
    items = person.get("admin/prompts")["items"]
    version: int = next(item["active"] for item in items if item["name"] == name)
    return version


def test_a_version_is_written_previewed_saved_activated_and_rolled_back(ada: Person) -> None:
    settings = open_prompt(ada)
    settings.get_by_role("button", name=f"Write a new version from version {SHIPPED}").click()
    template = settings.get_by_label("Template")
    expect(template).to_be_focused()
    ada.button("Keep as a new version").click()
    expect(settings).to_contain_text("Change something first.")
    template.fill(OWN)
    ada.button("Try it").click()
    tried = settings.get_by_role("status").filter(has_text="the model is told")
    expect(tried).to_contain_text("Speak like a pirate.")
    expect(tried).to_contain_text("a helpful assistant")
    settings.get_by_label("What is new").fill("More fun")
    ada.button("Keep as a new version").click()

    versions = part(settings, "Versions")
    expect(versions.get_by_role("status")).to_contain_text("Nobody gets it before you activate it")
    expect(line(versions, "Version 1001")).to_contain_text("More fun · by ada")
    assert active_version(ada) == SHIPPED
    expect(ada.button("Activate version 1001")).to_be_focused()
    ada.button("Activate version 1001").click()
    expect(versions.get_by_role("status")).to_have_text(
        "Version 1001 holds from the next message on."
    )
    expect(line(versions, "Version 1001").get_by_text("active")).to_be_visible()
    assert active_version(ada) == 1001
    ada.button(f"Roll back to version {SHIPPED}").click()
    expect(line(versions, "Version 1001").get_by_text("active")).to_have_count(0)
    assert active_version(ada) == SHIPPED


def test_the_model_gets_the_activated_version(ada: Person, bob: Person) -> None:
    create_version(ada)
    settings = open_prompt(ada)
    ada.button("Activate version 1001").click()
    expect(part(settings, "Versions").get_by_role("status")).to_be_visible()
    bob.ask("Hello")

    seen = bob.stored[-1]["metadata"]["seen"]
    assert [(used["name"], used["version"]) for used in seen["prompts"]] == [("system", 1001)]


def test_a_problem_of_a_template_names_its_line(ada: Person) -> None:
    settings = open_prompt(ada)
    settings.get_by_role("button", name=f"Write a new version from version {SHIPPED}").click()
    template = settings.get_by_label("Template")
    template.fill("{{ instructions }}\n\nHello {{ nobody }}!")
    ada.button("Try it").click()
    expect(settings.get_by_role("alert").filter(has_text="nobody")).to_contain_text("Line 3")
    ada.button("Go to line 3").click()
    expect(template).to_be_focused()
    chosen = "(area) => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert template.evaluate(chosen) == "Hello {{ nobody }}!"
    ada.page.keyboard.press("Delete")
    expect(ada.button("Go to line 3")).to_have_count(0)
    ada.button("Insert instructions").click()
    expect(template).to_have_value(re.compile(r"(\{\{ instructions \}\}[^{]*){2}"))
    expect(template).to_be_focused()

    ada.page.keyboard.press("Escape")  # the draft stays
    expect(template).to_be_visible()
    ada.button("Cancel").click()
    expect(ada.button(f"Write a new version from version {SHIPPED}")).to_be_focused()


def test_two_versions_are_compared_word_by_word(ada: Person) -> None:
    create_version(ada, "{{ instructions }} Be kind.")
    create_version(ada, "{{ instructions }} Be brief.")
    text = part(open_prompt(ada), "Text")
    text.get_by_label("From").select_option("Version 1001")
    expect(text.get_by_role("status")).to_have_text("1 place differs.")
    expect(text.get_by_role("deletion")).to_have_text(re.compile("kind$"))
    expect(text.get_by_role("insertion")).to_have_text(re.compile("brief$"))
    text.get_by_label("To").select_option("Version 1001")
    expect(text.get_by_role("deletion")).to_have_count(0)


def test_templates_of_model_families_are_shown(ada: Person) -> None:
    prompts = {item["name"]: item for item in ada.get("admin/prompts")["items"]}
    family, template = next(iter(prompts["memory_note"]["shipped"]["families"].items()))
    text = part(open_prompt(ada, "Note: memories"), "Text")
    text.get_by_text(f"Models with “{family}” in their name").click()
    expect(text.get_by_text(template.splitlines()[0])).to_be_visible()


def test_the_decoding_of_a_prompt_is_set_and_reset(ada: Person) -> None:
    decoding = part(open_prompt(ada, "Title"), "Decoding")
    temperature = decoding.get_by_label("Temperature")
    expect(temperature).to_have_accessible_description("0 to 2, else 0")
    temperature.fill("7")
    decoding.get_by_role("button", name="Save").click()
    expect(temperature).to_be_focused()
    temperature.fill("0.4")
    decoding.get_by_role("button", name="Save").click()
    expect(decoding.get_by_role("status")).to_have_text("Saved.")
    title = next(item for item in ada.get("admin/prompts")["items"] if item["name"] == "title")
    assert title["sampling"]["temperature"] == 0.4
    decoding.get_by_role("button", name="As it comes with hitsend").click()
    expect(temperature).to_have_value("")


def test_versions_are_compared_until_somebody_ends_it(ada: Person, bob: Person) -> None:
    create_version(ada, note="Pirates")
    settings = open_prompt(ada)
    part(settings, "Versions").get_by_role("button", name="Compare versions").click()
    expect(settings.get_by_role("link", name="Compare versions")).to_be_focused()
    begin = part(settings, "New comparison")
    begin.get_by_role("button", name="Start comparison").click()
    expect(begin.get_by_role("alert").first).to_have_text("Choose at least two versions.")
    begin.get_by_label("Version 1001").check()
    begin.get_by_label(f"Version {SHIPPED} comes with hitsend").check()
    begin.get_by_role("button", name="Start comparison").click()
    running = part(settings, "Under way")
    expect(running).to_contain_text(f"versions {SHIPPED}, 1001")
    expect(begin).to_contain_text("A comparison of this prompt is under way.")
    bob.ask("Hello")
    running.get_by_role("button", name="Count again").click()
    expect(running).to_contain_text("1 person · 1 answer")
    expect(running.get_by_role("status").first).to_contain_text("Nothing can be told yet")
    expect(running.get_by_role("table", name="Length of answers")).to_contain_text("too few")

    running.get_by_role("button", name="End, keep version 1001").click()
    expect(settings.get_by_text("The comparison has ended.")).to_be_visible()
    past = part(settings, "Past comparisons")
    expect(past).to_contain_text("version 1001 was kept")
    assert active_version(ada) == 1001
    past.get_by_role("button", name="Show numbers").click()
    expect(past).to_contain_text("1 person · 1 answer")


def test_no_version_can_be_activated_during_a_comparison(ada: Person) -> None:
    ada.post("admin/experiments", {"prompt": "system", "versions": [SHIPPED, create_version(ada)]})
    settings = open_prompt(ada)
    expect(part(settings, "Versions")).to_contain_text("End it to activate one.")
    expect(ada.button(re.compile("^(Activate|Roll back)"))).to_have_count(0)


def test_members_see_no_prompt_settings(bob: Person) -> None:
    bob.visit("/#settings/prompts")
    settings = bob.page.get_by_role("dialog", name="Settings")
    expect(settings.get_by_role("heading", level=3)).to_have_text("Account")
    expect(settings.get_by_role("link", name="Prompts")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_are_accessible_at_every_width(ada: Person, width: int) -> None:
    page = ada.page
    page.set_viewport_size({"width": width, "height": 800})
    ada.post("admin/experiments", {"prompt": "system", "versions": [SHIPPED, create_version(ada)]})
    ada.ask("Hello")

    def assert_fine(what: str) -> None:
        assert accessibility_problems(page) == [], what
        assert overflow(page) == 0, what
        assert cut_off(page) == [], what

    for section in ("prompts", "comparisons", "activity"):
        ada.visit(f"/#settings/{section}")
        page.get_by_role("dialog").get_by_role("listitem").last.wait_for()
        page.wait_for_load_state("networkidle")
        assert_fine(section)
    ada.visit("/#settings/prompts")
    page.get_by_role("button", name=re.compile("^System instructions")).click()
    assert_fine("a prompt")
    page.get_by_role("button", name="Write a new version from version 1001").click()
    page.get_by_label("Template").fill("{{ nobody }}")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("button", name="Go to line 1").wait_for()
    assert_fine("a template that is refused")
    page.get_by_label("Template").fill(OWN)
    page.get_by_role("button", name="Try it").click()
    page.get_by_text("the model is told").wait_for()
    assert_fine("a template that was tried")
