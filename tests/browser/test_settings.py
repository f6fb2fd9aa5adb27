"""Personal settings: account, keys, appearance and sampling."""

import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Locator, expect
from tests.browser.world import PASSWORD, Person, Server, intercept


def confirm(person: Person, action: str) -> None:
    """Confirms the dialog over the settings."""
    person.page.get_by_role("dialog").last.get_by_role("button", name=action, exact=True).click()


def part(settings: Locator, name: str) -> Locator:
    return settings.get_by_role("region", name=name)


def requested_sampling(person: Person) -> dict[str, Any]:
    """The sampling of the newest answer, from the server."""
    turn_id = person.stored[-1]["metadata"]["turn_exchange_id"]
    sampling: dict[str, Any] = person.get(f"turn/{turn_id}")["events"][0]["event"]["sampling"]
    return sampling


def test_a_name_is_changed_unless_it_is_taken(ada: Person, bob: Person) -> None:
    name = part(ada.open_settings(), "Name")
    name.get_by_label("Your name").fill("bob")
    name.get_by_role("button", name="Change name").click()
    expect(name.get_by_role("alert")).to_have_text("This name is taken. Choose another.")
    expect(name.get_by_label("Your name")).to_have_value("bob")
    name.get_by_label("Your name").fill("Ada Lovelace")
    name.get_by_role("button", name="Change name").click()

    expect(name.get_by_role("status")).to_have_text("Saved.")
    ada.page.keyboard.press("Escape")
    expect(ada.button("Ada Lovelace: settings and more")).to_be_visible()
    ada.sign_out()
    ada.sign_in("Ada Lovelace")


def test_a_new_password_needs_the_current_one_and_ends_other_sessions(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    other = new_person()
    other.visit()
    other.sign_in("ada")
    password = part(ada.open_settings(), "Password")
    current, new = password.get_by_label("Current password"), password.get_by_label("New password")
    change = password.get_by_role("button", name="Change password")
    new.fill("short")
    change.click()
    expect(current).to_have_accessible_description("Type the password you have now.")
    expect(new).to_have_accessible_description("At least 8 characters.")
    current.fill("not my password")
    new.fill("battery staple")
    change.click()
    expect(current).to_have_accessible_description("This is not your password.")
    expect(new).to_have_value("battery staple")
    current.fill(PASSWORD)
    change.click()
    expect(password.get_by_role("status")).to_contain_text("Your password is changed.")

    expect(other.page.get_by_role("heading", name="Sign in")).to_be_visible()
    other.page.get_by_label("Name").fill("ada")
    other.page.get_by_label("Password").fill("battery staple")
    other.button("Sign in").click()
    expect(other.draft).to_be_visible()


def test_a_session_ended_elsewhere_is_signed_out_at_once(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    other = new_person()
    other.visit()
    other.sign_in("ada")
    other.say("!script tokens=2000 pace=50ms\nheliotrope ")
    other.answers.wait_for()
    sessions = part(ada.open_settings(), "Where you are signed in")
    expect(sessions.get_by_role("listitem")).to_have_count(2)
    expect(sessions.get_by_role("listitem").first).to_contain_text("this one")
    sessions.get_by_role("button", name=re.compile("Sign out .*Chrome")).click()

    expect(sessions.get_by_role("listitem")).to_have_count(1)
    expect(other.page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(other.page.get_by_text("heliotrope")).to_have_count(0)


def test_deleting_an_account_deletes_all_its_data(ada: Person, bob: Person, server: Server) -> None:
    bob.ask("My secret is heliotrope.")
    key = bob.post("keys", {"label": "laptop"})["key"]
    link = bob.post(
        f"conversation/{bob.page.url.rsplit('/', 1)[1]}/shares",
        {"current_node": bob.stored[-1]["id"]},
    )
    for person in (ada, bob):
        danger = part(person.open_settings(), "Delete account")
        danger.get_by_role("button", name="Delete my account").click()
        dialog = person.page.get_by_role("dialog", name="Delete your account?")
        dialog.get_by_label("Your password").fill("not my password")
        dialog.get_by_role("button", name="Delete my account").click()
        expect(dialog.get_by_role("alert")).to_have_text("This is not your password.")
        dialog.get_by_label("Your password").fill(PASSWORD)
        dialog.get_by_role("button", name="Delete my account").click()
        if person is ada:
            expect(dialog.get_by_role("alert")).to_contain_text("You are the only administrator.")

    expect(bob.page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert "heliotrope" not in bob.page.evaluate("JSON.stringify(localStorage)")
    assert httpx2.get(f"{server.url}/backend-api/share/{link['id']}").status_code == 404
    bearer = {"authorization": f"Bearer {key}"}
    assert httpx2.get(f"{server.url}/v1/models", headers=bearer).status_code == 401
    assert [person["name"] for person in ada.get("people")["items"]] == ["ada"]
    confirm(ada, "Delete my account")
    expect(ada.page.get_by_role("heading", name="Create the first account")).to_be_visible()


def test_an_api_key_is_shown_once_works_and_can_be_revoked(ada: Person, server: Server) -> None:
    keys = part(ada.open_settings("API keys"), "API keys")
    keys.get_by_role("button", name="Create key").click()
    expect(keys.get_by_label("Label of a new key")).to_have_accessible_description(
        "Give the key a label."
    )
    keys.get_by_label("Label of a new key").fill("laptop")
    keys.get_by_role("button", name="Create key").click()
    expect(keys.get_by_role("listitem")).to_contain_text("never used")
    key = keys.locator("code").inner_text()
    expect(ada.page.get_by_role("region", name="How to use a key")).to_contain_text(key)
    question = {"model": "auto", "messages": [{"role": "user", "content": "!script\nHello you"}]}
    bearer = {"authorization": f"Bearer {key}"}
    asked = httpx2.post(f"{server.url}/v1/chat/completions", json=question, headers=bearer)
    assert asked.json()["choices"][0]["message"]["content"] == "Hello you"
    ada.page.reload()
    expect(keys.get_by_role("listitem")).to_contain_text("laptop")
    expect(keys.get_by_role("listitem")).to_contain_text("last used")
    assert key not in ada.page.content()
    keys.get_by_role("button", name="Delete key laptop").click()
    confirm(ada, "Delete key")

    expect(keys.get_by_text("You have no keys.")).to_be_visible()
    asked = httpx2.post(f"{server.url}/v1/chat/completions", json=question, headers=bearer)
    assert asked.status_code == 401


def test_a_key_gets_the_scopes_and_the_expiry_that_were_chosen(ada: Person, server: Server) -> None:
    keys = part(ada.open_settings("API keys"), "API keys")
    keys.get_by_label("Label of a new key").fill("backup")
    keys.get_by_role("switch", name="Chat").click()
    keys.get_by_role("button", name="Create key").click()
    expect(keys.get_by_text("Choose at least one thing the key may do.")).to_be_visible()
    keys.get_by_role("switch", name="Read").click()
    keys.get_by_label("Expires").select_option("After 90 days")
    keys.get_by_role("button", name="Create key").click()
    expect(keys.get_by_role("listitem")).to_contain_text("Read")
    expect(keys.get_by_role("listitem")).to_contain_text(re.compile(r"expires \w+ \d+, \d{4}"))
    bearer = {"authorization": f"Bearer {keys.locator('code').inner_text()}"}

    assert httpx2.get(f"{server.url}/backend-api/conversations", headers=bearer).status_code == 200
    refused = httpx2.get(f"{server.url}/v1/models", headers=bearer)
    assert refused.json()["error"]["code"] == "insufficient_scope"


def test_only_administrators_are_offered_keys_that_administer(ada: Person, bob: Person) -> None:
    for person, count in ((ada, 4), (bob, 3)):
        keys = part(person.open_settings("API keys"), "API keys")
        expect(keys.get_by_role("switch")).to_have_count(count)


LOOK = """
() => {
    const style = getComputedStyle(document.body);
    return [style.colorScheme, style.fontSize, document.documentElement.lang];
}
"""


def test_appearance_changes_apply_at_once_and_are_kept(ada: Person) -> None:
    settings = ada.open_settings("Appearance")
    before = ada.page.evaluate(LOOK)
    settings.get_by_role("radio", name="Dark").check(force=True)
    settings.get_by_role("radio", name="Large").check(force=True)
    expect(ada.page.locator("html")).to_have_attribute("data-text", "large")
    line = settings.get_by_role("link", name="Account")
    airy = line.evaluate("(line) => line.offsetHeight")
    settings.get_by_role("radio", name="Compact").check(force=True)
    is_lower = "([line, airy]) => line.offsetHeight < airy"
    ada.page.wait_for_function(is_lower, arg=[line.element_handle(), airy])
    settings.get_by_label("Language").select_option("Deutsch")
    german = ada.page.get_by_role("dialog", name="Einstellungen")
    expect(german).to_be_visible()
    after = ada.page.evaluate(LOOK)

    assert (after[0], after[2]) == ("dark", "de")
    assert float(after[1][:-2]) > float(before[1][:-2])
    ada.page.reload()
    expect(german).to_be_visible()
    assert ada.page.evaluate(LOOK) == after
    german.get_by_label("Sprache").select_option("English")
    expect(settings).to_be_visible()


def test_the_back_button_closes_the_settings(ada: Person) -> None:
    ada.ask("!script\nhello")
    address = ada.page.url
    ada.open_settings("Chat")
    ada.page.go_back()

    expect(ada.page.get_by_role("dialog")).to_have_count(0)
    expect(ada.page).to_have_url(address)
    ada.page.go_forward()
    expect(ada.page.get_by_role("heading", name="Chat", level=3)).to_be_visible()


def test_answers_use_the_chosen_sampling_preset(ada: Person) -> None:
    settings = ada.open_settings("Chat")
    expect(settings.get_by_role("radio", checked=True)).to_have_accessible_name(
        re.compile("As the model is.*the model decides")
    )
    exact = settings.get_by_role("radio", name=re.compile("Exact.*Temperature 0.2, Top-p 0.9"))
    exact.check()
    expect(part(settings, "Instructions")).to_contain_text("What the model is told")
    ada.page.keyboard.press("Escape")
    ada.ask("!script\nhello")
    assert (requested_sampling(ada)["temperature"], requested_sampling(ada)["top_p"]) == (0.2, 0.9)


def test_custom_sampling_is_checked_and_sent(ada: Person) -> None:
    settings = ada.open_settings("Chat")
    settings.get_by_role("radio", name="My own numbers").check()
    temperature = settings.get_by_label("Temperature", exact=True)
    wrong = {"warm": "This has to be a number.", "2.5": "This has to be 0 to 2."}
    for typed, sentence in wrong.items():
        temperature.fill(typed)
        expect(temperature).to_have_accessible_description(sentence)
    settings.get_by_label("Top-k").fill("1.5")
    expect(settings.get_by_label("Top-k")).to_have_accessible_description(
        "This has to be a whole number."
    )
    temperature.fill("0,3")
    settings.get_by_label("Top-k").fill("")
    settings.get_by_label("Seed").fill("7")
    settings.get_by_label("Longest answer").fill("5")
    ada.page.reload()
    expect(temperature).to_have_value("0.3")
    ada.page.keyboard.press("Escape")
    ada.ask("!script\none two three four five six seven eight")

    sampling = requested_sampling(ada)
    assert (sampling["temperature"], sampling["seed"], sampling["max_tokens"]) == (0.3, 7, 5)
    expect(ada.answers).to_contain_text("reached the longest length")


@pytest.mark.parametrize(
    ("section", "path"),
    [
        ("Account", "sessions"),
        ("API keys", "keys"),
        ("Shared links", "shares"),
        ("People", "people"),
        ("Invitations", "invites"),
        ("Limits", "rules"),
    ],
)
def test_a_list_that_fails_to_load_says_why_and_can_be_retried(
    ada: Person, section: str, path: str
) -> None:
    intercept(ada.page, f"**/backend-api/{path}", lambda route: route.abort())
    settings = ada.open_settings(section)
    expect(settings.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    ada.page.unroute(f"**/backend-api/{path}")
    settings.get_by_role("button", name="Try again").click()

    expect(settings.get_by_role("alert").filter(has_text="cannot be reached")).to_have_count(0)
    expect(settings.get_by_role("button", name="Try again")).to_have_count(0)
