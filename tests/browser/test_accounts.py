from collections.abc import Callable

from playwright.sync_api import expect
from tests.browser.world import PASSWORD, Person


def test_the_first_visitor_becomes_the_administrator(new_person: Callable[[], Person]) -> None:
    person = new_person()
    person.visit()
    expect(person.page.get_by_text("will be the administrator")).to_be_visible()
    person.create_account("ada")
    person.page.get_by_role("button", name="Settings").click()

    expect(person.page.get_by_text("Signed in as ada, administrator")).to_be_visible()


def test_who_signs_out_is_out_until_they_sign_in_again(ada: Person) -> None:
    ada.ask("Remember me.")
    address = ada.page.url
    ada.sign_out()
    ada.page.goto(address)

    expect(ada.page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(ada.page.get_by_text("Remember me.")).to_have_count(0)
    ada.sign_in("ada")
    expect(ada.questions).to_contain_text("Remember me.")


def test_a_wrong_password_is_refused_with_a_sentence(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    stranger = new_person()
    stranger.visit()
    stranger.page.get_by_label("Name").fill("ada")
    stranger.page.get_by_label("Password").fill(PASSWORD.upper())
    stranger.page.get_by_role("button", name="Sign in").click()

    expect(stranger.page.get_by_role("alert")).to_contain_text("wrong")


def test_another_person_sees_nothing_of_it(ada: Person, new_person: Callable[[], Person]) -> None:
    ada.ask("My secret is heliotrope.")
    address = ada.page.url
    ada.page.get_by_role("button", name="Settings").click()
    ada.page.get_by_role("button", name="Invite a member").click()
    link = ada.page.locator("code", has_text="/invite/").inner_text()

    bob = new_person()
    bob.page.goto(link)
    bob.create_account("bob")
    expect(bob.page.get_by_text("Your conversations will be listed here.")).to_be_visible()
    bob.page.goto(address)
    expect(bob.page.get_by_text("This conversation cannot be opened")).to_be_visible()
    bob.page.get_by_label("Search conversations").fill("heliotrope")
    expect(bob.page.get_by_text("Nothing found.")).to_be_visible()

    assert "heliotrope" not in bob.page.content()


def test_an_api_key_is_shown_once_and_can_be_taken_back(ada: Person) -> None:
    ada.page.get_by_role("button", name="Settings").click()
    keys = ada.page.get_by_role("region", name="API keys")
    keys.get_by_label("Label of a new key").fill("laptop")
    keys.get_by_role("button", name="Create key").click()
    expect(keys.get_by_role("status")).to_contain_text("hs-")
    expect(keys.get_by_role("listitem")).to_contain_text("laptop")
    keys.get_by_role("button", name="Delete key laptop").click()

    expect(keys.get_by_role("listitem")).to_have_count(0)
