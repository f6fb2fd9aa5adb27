"""A forgotten password: from the administrator's link to signing in again."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect
from tests.browser.world import PASSWORD, Person

NEW = "a far better one"


def make_link(ada: Person) -> str:
    people = ada.open_settings("People")
    people.get_by_role("button", name="What to do with bob").click()
    ada.page.get_by_role("menuitem", name="Reset password…").click()
    dialog = ada.page.get_by_role("dialog", name="Reset the password of bob?")
    dialog.get_by_role("button", name="Make link").click()
    return dialog.locator("code").inner_text()


def notice(person: Person) -> Locator:
    return person.page.get_by_role("dialog", name="Your password was reset")


def test_a_forgotten_password_is_reset_with_a_link_and_its_person_is_told(
    ada: Person, bob: Person, new_person: Callable[[], Person]
) -> None:
    bob.post("keys", {"label": "laptop"})
    link = make_link(ada)
    somewhere = new_person()
    somewhere.page.goto(link)
    expect(somewhere.page.get_by_text("For the account bob.")).to_be_visible()
    password = somewhere.page.get_by_label("New password")
    password.fill("bob12345")
    expect(password).to_have_accessible_description(re.compile("easy to guess"))
    password.fill(NEW)
    somewhere.page.get_by_role("switch", name="Delete my API keys, too").click()
    somewhere.button("Save password").click()
    expect(notice(somewhere)).to_contain_text("with a link that ada made")
    notice(somewhere).get_by_role("button", name="I have read this").click()

    assert somewhere.get("keys")["items"] == []
    expect(bob.page.get_by_role("heading", name="Sign in")).to_be_visible()
    somewhere.page.reload()
    somewhere.draft.wait_for()
    resets = somewhere.open_settings().get_by_role("region", name="Password resets")
    expect(resets.get_by_role("listitem")).to_contain_text("Link made by ada")
    expect(notice(somewhere)).to_have_count(0)
    bob.page.goto(link)
    expect(bob.page.get_by_text("This link is not valid, or not any more.")).to_be_visible()
    bob.page.get_by_role("link", name="Go to hitsend").click()
    expect(bob.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_page_to_sign_in_says_whom_to_ask_about_a_forgotten_password(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    stranger = new_person()
    stranger.visit()
    stranger.page.get_by_text("Forgot your password?").click()
    expect(stranger.page.get_by_text("Ask an administrator of this server")).to_be_visible()
    expect(stranger.page.get_by_text("hitsend admin reset-password")).to_be_visible()
    assert PASSWORD not in stranger.page.content()
