"""Two-step sign-in: adding a second factor in the settings, and signing in with it."""

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import CDPSession, Locator, expect
from pyotp.totp import TOTP
from tests.browser.world import PASSWORD, Person, Server

STEP_S = 30


def next_code(app: TOTP) -> str:
    """A code that was not used yet: of the next half minute, which is accepted already."""
    return app.at(int(time.time()) + STEP_S)


def two_step(person: Person) -> Locator:
    return person.open_settings().get_by_role("region", name="Two-step sign-in")


def add_app(person: Person, place: Locator) -> tuple[TOTP, list[str]]:
    """Returns the app and the recovery codes."""
    place.get_by_role("button", name="Add authenticator app").click()
    dialog = person.page.get_by_role("dialog", name="Add an authenticator app")
    expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
    app = TOTP(dialog.locator("code").inner_text().replace(" ", ""))
    code = dialog.get_by_label("Code from the app")
    code.fill("000000")
    dialog.get_by_role("button", name="Add app").click()
    expect(code).to_have_accessible_description(
        "This code is wrong. Is the clock of your phone right?"
    )
    code.fill(app.now())
    dialog.get_by_role("button", name="Add app").click()
    return app, save_codes(person)


def save_codes(person: Person) -> list[str]:
    shown = person.page.get_by_role("dialog", name="Your recovery codes")
    expect(shown.get_by_role("listitem")).to_have_count(10)
    codes = shown.get_by_role("listitem").all_inner_texts()
    shown.get_by_role("button", name="I have saved them").click()
    return codes


def give_password(person: Person, name: str = "ada") -> None:
    person.page.get_by_label("Name").fill(name)
    person.page.get_by_label("Password").fill(PASSWORD)
    person.button("Sign in").click()


def leave_settings(person: Person) -> None:
    person.page.keyboard.press("Escape")
    person.sign_out()


def add_virtual_authenticator(person: Person) -> CDPSession:
    browser = person.page.context.new_cdp_session(person.page)
    browser.send("WebAuthn.enable")
    options: dict[str, Any] = {"protocol": "ctap2", "transport": "internal"}
    options |= {"hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
    options["automaticPresenceSimulation"] = True
    browser.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return browser


def test_signing_in_with_a_code_of_an_app_or_a_recovery_code(ada: Person) -> None:
    region = two_step(ada)
    app, codes = add_app(ada, region)
    assert len(codes) == 10
    expect(region).to_contain_text("On. After your password")
    expect(region).to_contain_text("10 recovery codes are left")
    leave_settings(ada)
    give_password(ada)
    code = ada.page.get_by_label("Code from your authenticator app")
    code.fill("000000")
    ada.button("Continue").click()
    expect(ada.page.get_by_role("alert")).to_contain_text("wrong, or was used already")
    expect(code).to_be_focused()
    code.fill(next_code(app))
    ada.button("Continue").click()
    ada.draft.wait_for()
    ada.sign_out()
    give_password(ada)
    ada.button("Use a recovery code").click()
    ada.page.get_by_label("Recovery code").fill(codes[0])
    ada.button("Continue").click()
    ada.draft.wait_for()
    expect(two_step(ada)).to_contain_text("9 recovery codes are left")


def test_signing_in_with_a_passkey_and_turning_the_second_step_off(
    new_person: Callable[[], Person],
) -> None:
    ada = new_person()
    ada.url = ada.url.replace("127.0.0.1", "localhost")  # an address has no passkeys
    ada.register("ada", "first")
    add_virtual_authenticator(ada)
    region = two_step(ada)
    region.get_by_role("button", name="Add passkey").click()
    naming = ada.page.get_by_role("dialog", name="Name your passkey")
    naming.get_by_label("Name").fill("Phone")
    naming.get_by_role("button", name="Save passkey").click()
    save_codes(ada)
    expect(region.get_by_role("listitem")).to_contain_text("Phone")
    leave_settings(ada)
    give_password(ada)
    ada.button("Use a passkey").click()
    ada.draft.wait_for()
    region = two_step(ada)
    region.get_by_role("button", name="Turn off two-step sign-in").click()
    asked = ada.page.get_by_role("dialog", name="Remove this?")
    asked.get_by_role("button", name="Turn off two-step sign-in").click()
    expect(region).to_contain_text("Off.")
    leave_settings(ada)
    give_password(ada)
    ada.draft.wait_for()


def test_where_a_second_step_is_required_it_is_set_up_before_anything_else(
    ada: Person, server: Server, new_person: Callable[[], Person]
) -> None:
    server.stop()
    server.settings["HITSEND_REQUIRE_SECOND_FACTOR"] = "everyone"
    server.start()
    elsewhere = new_person()
    elsewhere.visit()
    give_password(elsewhere)
    heading = elsewhere.page.get_by_role("heading", name="Set up two-step sign-in")
    heading.wait_for()
    expect(elsewhere.draft).to_have_count(0)
    elsewhere.page.reload()
    heading.wait_for()
    add_app(elsewhere, elsewhere.page.get_by_role("main"))
    elsewhere.draft.wait_for()


def test_a_new_password_can_delete_api_keys(ada: Person) -> None:
    ada.post("keys", {"label": "laptop"})
    region = ada.open_settings().get_by_role("region", name="Password", exact=True)
    region.get_by_label("Current password").fill(PASSWORD)
    region.get_by_label("New password").fill("a far better one")
    region.get_by_role("switch", name="Delete my API keys, too").click()
    region.get_by_role("button", name="Change password").click()
    expect(region).to_contain_text("Your password is changed.")
    assert ada.get("keys")["items"] == []
