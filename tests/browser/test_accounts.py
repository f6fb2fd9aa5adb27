"""Signing up, in and out, and the separation of accounts."""

import os
import re
import subprocess
import sys
from collections.abc import Callable

from playwright.sync_api import expect
from tests.browser.world import PASSWORD, ROOT, Person, Server


def test_the_first_visitor_becomes_the_administrator(new_person: Callable[[], Person]) -> None:
    person = new_person()
    person.visit()
    expect(person.page.get_by_text("will be the administrator")).to_be_visible()
    person.create_account("ada")

    expect(person.open_settings()).to_contain_text("Signed in as ada, administrator.")


def test_a_visitor_through_a_proxy_needs_the_setup_link(
    new_person: Callable[[], Person], server: Server
) -> None:
    made = subprocess.run(
        [sys.executable, "-m", "hitsend", "admin", "setup-link"]
        + ["--data-dir", str(server.data_dir), "--port", str(server.port)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        check=True,
    )
    link = made.stdout.strip()
    stranger, owner = new_person(), new_person()
    for person in (stranger, owner):
        person.page.set_extra_http_headers({"x-forwarded-for": "192.0.2.7"})
    stranger.visit("/#setup=guess")
    stranger.page.get_by_label("Name").fill("eve")
    stranger.page.get_by_label("Password").fill(PASSWORD)
    stranger.button("Create account").click()
    expect(stranger.page.get_by_role("alert")).to_contain_text("not the setup token")
    expect(stranger.page.get_by_label("Setup token")).to_be_visible()
    owner.visit(link.removeprefix(server.url))
    expect(owner.page.get_by_label("Setup token")).to_have_count(0)
    owner.create_account("ada")

    expect(owner.open_settings()).to_contain_text("Signed in as ada, administrator.")
    assert "setup" not in owner.page.url


def test_signing_out_ends_the_session_until_the_next_sign_in(ada: Person) -> None:
    ada.ask("Remember me.")
    address = ada.page.url
    ada.draft.fill("What I have not said yet.")
    ada.sign_out()
    assert "not said yet" not in ada.page.evaluate("JSON.stringify(localStorage)")
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
    expect(stranger.page.get_by_label("Name")).to_have_value("ada")


def test_an_empty_field_shows_its_problem(new_person: Callable[[], Person]) -> None:
    person = new_person()
    person.visit()
    person.page.get_by_label("Password").fill("short")
    person.button("Create account").click()

    expect(person.page.get_by_label("Name")).to_have_accessible_description("Choose a name.")
    expect(person.page.get_by_label("Password")).to_have_accessible_description(
        "3 more characters, please."
    )


def test_an_easy_password_and_a_name_in_mixed_alphabets_are_refused_at_their_fields(
    new_person: Callable[[], Person],
) -> None:
    person = new_person()
    person.visit()
    name, password = person.page.get_by_label("Name"), person.page.get_by_label("Password")
    name.fill("p\u0430ypal")
    password.press_sequentially("Passw0rd1")
    expect(password).to_have_accessible_description(re.compile("easy to guess"))
    person.button("Create account").click()
    expect(password).to_be_focused()
    password.fill(PASSWORD)
    expect(password).to_have_accessible_description("At least 8 characters.")
    person.button("Create account").click()
    expect(name).to_have_accessible_description(re.compile("mixes letters of Cyrillic and Latin"))
    person.create_account("Иван")


def test_another_person_sees_no_conversation_of_the_first(ada: Person, bob: Person) -> None:
    ada.ask("My secret is heliotrope.")
    expect(bob.page.get_by_text("Your conversations will be listed here.")).to_be_visible()
    bob.page.goto(ada.page.url)
    expect(bob.page.get_by_text("This conversation cannot be opened")).to_be_visible()
    bob.page.get_by_label("Search conversations").fill("heliotrope")
    expect(bob.page.get_by_text("Nothing found for “heliotrope”.")).to_be_visible()

    # Only what bob typed himself.
    assert bob.page.content().count("heliotrope") == 1
