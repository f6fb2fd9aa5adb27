"""Administration of people, invitations, models and limits."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect
from tests.browser.test_settings import confirm, part
from tests.browser.world import Person


def line(settings: Locator, text: str) -> Locator:
    return settings.get_by_role("listitem").filter(has_text=text)


def test_a_member_becomes_an_administrator_and_a_member_again(ada: Person, bob: Person) -> None:
    expect(bob.open_settings().get_by_role("link", name="People")).to_have_count(0)
    people = part(ada.open_settings("People"), "People")
    expect(line(people, "ada")).to_contain_text("you")
    expect(ada.button("What to do with ada")).to_have_count(0)
    ada.choose("What to do with bob", "Make administrator")
    expect(people.get_by_role("status")).to_have_text("bob is an administrator now.")
    expect(line(people, "bob")).to_contain_text("Administrator")
    bob.page.reload()
    bob.open_settings("People")
    ada.choose("What to do with bob", "Make member")
    expect(people.get_by_role("status")).to_have_text("bob is a member now.")
    bob.page.reload()

    expect(bob.page.get_by_role("dialog").get_by_role("heading", level=3)).to_have_text("Account")
    expect(bob.page.get_by_role("link", name="People")).to_have_count(0)


def test_a_disabled_account_is_locked_out_and_a_deleted_one_is_gone(
    ada: Person, bob: Person
) -> None:
    bob.say("!script tokens=2000 pace=50ms\nheliotrope ")
    bob.answers.wait_for()
    people = part(ada.open_settings("People"), "People")
    expect(line(people, "bob")).to_contain_text("1 conversation")
    ada.choose("What to do with bob", "Disable")
    expect(people.get_by_role("status")).to_contain_text("bob is signed out everywhere")
    expect(line(people, "bob")).to_contain_text("disabled")
    expect(bob.page.get_by_role("heading", name="Sign in")).to_be_visible()
    bob.page.get_by_label("Name").fill("bob")
    bob.page.get_by_label("Password").fill("correct horse")
    bob.button("Sign in").click()
    expect(bob.page.get_by_role("alert")).not_to_be_empty()
    ada.choose("What to do with bob", "Enable")
    expect(people.get_by_role("status")).to_have_text("bob can sign in again.")
    bob.sign_in("bob")
    ada.choose("What to do with bob", "Delete")
    confirm(ada, "Delete account")

    expect(people.get_by_role("status")).to_have_text("The account of bob is deleted.")
    expect(people.get_by_role("listitem")).to_have_count(1)
    expect(bob.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_invitation_works_once_and_can_be_revoked(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    invites = part(ada.open_settings("Invitations"), "Invitations")
    expect(invites.get_by_text("No invitation is open.")).to_be_visible()
    ada.button("Invite an administrator").click()
    link = invites.locator("code").inner_text()
    expect(line(invites, "Administrator")).to_contain_text("open until")
    carol = new_person()
    carol.page.goto(link)
    expect(carol.page.get_by_role("heading", name="You are invited")).to_be_visible()
    carol.create_account("carol")
    carol.open_settings("People")
    ada.page.reload()
    expect(line(invites, "Administrator")).to_contain_text("used by carol")

    late = new_person()
    late.page.goto(link)
    _try(late, "dave", "This invitation is not valid")
    ada.button("Invite a member").click()
    link = invites.locator("code").inner_text()
    ada.button("Withdraw invitation").click()
    confirm(ada, "Withdraw")
    expect(line(invites, "Member")).to_have_count(0)
    late.page.goto(link)
    _try(late, "dave", "This invitation is not valid")


def test_models_are_downloaded_and_removed(ada: Person) -> None:
    settings = ada.open_settings("Models")
    here = part(settings, "On this server")
    expect(line(here, "Scripted")).to_contain_text("default")
    expect(ada.button(re.compile("^Remove"))).to_have_count(0)
    settings.get_by_role("button", name="Fetch Scripted small").click()
    expect(line(here, "Scripted small")).to_be_visible()
    expect(settings.get_by_text("Everything in the catalogue is here.")).to_be_visible()
    settings.get_by_role("button", name="Remove Scripted small").click()
    confirm(ada, "Remove model")

    expect(line(here, "Scripted small")).to_have_count(0)
    expect(settings.get_by_role("button", name="Fetch Scripted small")).to_be_visible()


def test_the_limits_are_shown_with_their_setting_names(ada: Person) -> None:
    limits = part(ada.open_settings("Limits"), "By the server’s settings")
    rules = ada.get("rules")

    for name in rules:
        expect(limits.get_by_text(f"HITSEND_{name.upper()}", exact=True)).to_be_visible()
    expect(limits).to_contain_text(f"{rules['max_message_chars']:,}")
    expect(limits).to_contain_text("268 MB")


def _try(person: Person, name: str, sentence: str) -> None:
    person.page.get_by_label("Name").fill(name)
    person.page.get_by_label("Password").fill("correct horse")
    person.button("Create account").click()
    expect(person.page.get_by_role("alert")).to_contain_text(sentence)
