"""Shared conversations: readable by anyone with the link until revoked."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect
from tests.browser.test_settings import confirm
from tests.browser.test_sidebar import take
from tests.browser.world import Person


def share(person: Person) -> dict[str, Any]:
    """Shares the open conversation and returns the link."""
    shared: dict[str, Any] = person.post(
        f"conversation/{person.page.url.rsplit('/', 1)[1]}/shares",
        {"current_node": person.stored[-1]["id"]},
    )
    return shared


def test_a_stranger_reads_what_was_shared_and_nothing_else(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    ada.ask("!script\n## A heading\n\n```python\nprint(1)\n```")
    path = share(ada)["path"]
    ada.ask("!script\nWhat came later is heliotrope.")
    stranger = new_person()
    stranger.visit(path)
    expect(stranger.page.get_by_role("article", name="Question")).to_have_count(1)
    answer = stranger.page.get_by_role("article", name="Answer")
    expect(answer.get_by_role("heading", name="A heading")).to_be_visible()
    expect(answer.locator("pre")).to_contain_text("print(1)")
    expect(stranger.page.get_by_text("A copy of a conversation, shared on")).to_be_visible()

    assert "heliotrope" not in stranger.page.content()
    assert "ada" not in stranger.page.get_by_role("main").inner_text()
    expect(stranger.page.get_by_label("Message", exact=True)).to_have_count(0)
    stranger.page.get_by_role("link", name="hitsend: a chat of your own").click()
    expect(stranger.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_owner_opens_copies_and_revokes_the_link(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    settings = ada.open_settings("Shared links")
    expect(settings.get_by_text("You have shared nothing.")).to_be_visible()
    ada.page.keyboard.press("Escape")
    ada.ask("!script\nhello")
    shared = share(ada)
    link = ada.url + shared["path"]
    settings = ada.open_settings("Shared links")
    line = settings.get_by_role("listitem").filter(has_text="shared ")
    expect(line.get_by_role("link", name="Open the shared page of")).to_have_attribute(
        "href", shared["path"]
    )
    ada.allow_clipboard()
    line.get_by_role("button", name="Copy the link to").click()
    ada.expect_copied(link)
    line.get_by_role("button", name="Stop sharing").click()
    confirm(ada, "Stop sharing")
    expect(settings.get_by_text("You have shared nothing.")).to_be_visible()

    stranger = new_person()
    stranger.page.goto(link)
    expect(stranger.page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    ada.page.keyboard.press("Escape")
    expect(ada.answers).to_contain_text("hello")


def test_a_link_is_deleted_and_restored_with_its_conversation(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    ada.ask("!script\nhello")
    path = share(ada)["path"]
    expect(ada.conversations).to_have_count(1)
    take(ada, ada.conversations.get_by_role("link").inner_text(), "Delete")
    ada.button("Undo").wait_for()
    stranger = new_person()
    stranger.visit(path)
    expect(stranger.page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    ada.button("Undo").click()
    expect(ada.answers).to_contain_text("hello")
    stranger.page.reload()

    expect(stranger.page.get_by_role("article", name="Answer")).to_contain_text("hello")


def test_a_shared_page_that_fails_to_load_can_be_retried(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    ada.ask("!script\nhello")
    path = share(ada)["path"]
    stranger = new_person()
    stranger.page.route("**/backend-api/share/*", lambda route: route.abort())
    stranger.visit(path)
    expect(stranger.page.get_by_role("alert")).to_contain_text("cannot be reached")
    stranger.page.unroute("**/backend-api/share/*")
    stranger.button("Try again").click()

    expect(stranger.page.get_by_role("article", name="Answer")).to_contain_text("hello")
