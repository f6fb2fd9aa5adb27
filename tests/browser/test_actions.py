"""Actions available everywhere, and protection of focus, undo and dialogs."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Route, expect
from tests.browser.world import Person, Server, intercept, wait_until


def test_page_shortcuts_do_nothing_behind_a_dialog(ada: Person) -> None:
    ada.ask("!script\nkept")
    expect(ada.conversations).to_have_count(1)
    settings = ada.open_settings()
    for keys in ("Control+Shift+Backspace", "Control+Shift+o", "Control+Shift+s", "?"):
        ada.page.keyboard.press(keys)
    expect(settings).to_be_visible()
    ada.page.keyboard.press("Escape")

    expect(ada.conversations).to_have_count(1)
    expect(ada.answers).to_contain_text("kept")
    expect(ada.button("Fold the sidebar away")).to_be_visible()


def test_a_component_that_fails_to_load_says_so(browser: Browser, server: Server) -> None:
    # A service worker would fetch it without interception.
    ada = Person(browser.new_context(service_workers="block").new_page(), server)
    ada.visit()
    ada.create_account("ada")
    intercept(ada.page, re.compile(r"/assets/Settings-.*\.js"), lambda route: route.abort())
    ada.page.keyboard.press("Control+,")
    notice = ada.page.get_by_role("dialog", name="This part of the page did not load")
    expect(notice).to_be_visible()
    ada.page.unroute_all()
    notice.get_by_role("button", name="Load the page again").click()

    expect(ada.page.get_by_role("dialog", name="Settings")).to_be_visible()
    ada.page.context.close()


def test_a_notice_stays_while_its_undo_button_is_focused(ada: Person) -> None:
    ada.page.clock.install()
    ada.ask("!script\nkept")
    expect(ada.conversations).to_have_count(1)
    ada.choose(re.compile("Options for"), "Delete")
    undo = ada.button("Undo")
    undo.focus()
    ada.page.clock.fast_forward(60_000)
    expect(undo).to_be_focused()
    undo.press("Enter")
    expect(ada.conversations).to_have_count(1)
    ada.page.wait_for_function("document.activeElement !== document.body")


def test_undo_has_a_shortcut(ada: Person) -> None:
    ada.ask("!script\nkept")
    expect(ada.conversations).to_have_count(1)
    ada.choose(re.compile("Options for"), "Archive")
    expect(ada.conversations).to_have_count(0)
    expect(ada.button("Undo")).to_be_visible()
    ada.page.get_by_role("main").focus()
    ada.page.keyboard.press("Control+z")

    expect(ada.conversations).to_have_count(1)
    expect(ada.button("Undo")).to_have_count(0)


def test_an_empty_answer_is_not_copied(ada: Person) -> None:
    ada.ask("!script\nthe good one")
    ada.say("!script error")
    expect(ada.button("Try again")).to_be_visible()
    ada.allow_clipboard()
    ada.page.keyboard.press("Control+Shift+c")
    expect(ada.page.get_by_text("The answer is copied.")).to_be_visible()

    assert ada.clipboard == "the good one"


def test_the_whole_conversation_can_be_saved_and_copied_as_markdown(
    ada: Person, tmp_path: Path
) -> None:
    ada.ask("!script\n**forty-two**")
    ada.ask("!script\nand more")
    page = "## Answer\n\n**forty-two**\n\n## You\n\n!script\nand more\n\n## Answer\n\nand more\n"
    with ada.page.expect_download() as begun:
        ada.draft.press_sequentially("/export")
        ada.draft.press("Enter")
    begun.value.save_as(tmp_path / "saved.md")
    assert begun.value.suggested_filename.endswith(".md")
    assert (tmp_path / "saved.md").read_text().endswith(page)
    with ada.page.expect_download():
        ada.choose(re.compile("Options for"), "Save as Markdown")
    ada.allow_clipboard()
    ada.page.keyboard.press("Control+k")
    ada.page.keyboard.type("copy this conversation")
    ada.page.keyboard.press("Enter")
    expect(ada.page.get_by_text("The conversation is copied.")).to_be_visible()

    assert ada.clipboard.endswith(page)


def test_a_late_rename_does_not_close_a_newer_dialog(ada: Person) -> None:
    ada.ask("!script\nkept")
    late = list[Route]()
    intercept(
        ada.page,
        "**/backend-api/conversation/*",
        lambda route: late.append(route) if route.request.method == "PATCH" else route.continue_(),
    )
    press = ada.page.keyboard.press
    press("Control+k")
    ada.page.keyboard.type("rename this")
    press("Enter")
    ada.page.get_by_label("New title").fill("Another name")
    press("Enter")
    wait_until(ada.page, lambda: late != [], "Nothing is renamed.")
    press("Escape")
    press("Control+k")
    expect(ada.page.get_by_role("combobox", name="Find anything")).to_be_focused()
    with ada.page.expect_response(lambda response: response.request.method == "PATCH"):
        late[0].continue_()

    expect(ada.page.get_by_role("heading", name="Another name", level=1)).to_be_attached()
    expect(ada.page.get_by_role("dialog", name="Find anything")).to_be_visible()


def test_the_palette_renames_shares_and_chooses_the_model(ada: Person) -> None:
    ada.ask("!script\nkept")

    def find(words: str) -> None:
        ada.page.keyboard.press("Control+k")
        ada.page.keyboard.type(words)
        ada.page.keyboard.press("Enter")

    find("rename this")
    ada.page.get_by_label("New title").fill("Another name")
    ada.page.keyboard.press("Enter")
    expect(ada.conversations).to_have_text([re.compile("Another name")])
    expect(ada.page.get_by_role("dialog")).to_have_count(0)
    find("share this")
    ada.button("Make a link").click()
    link = ada.page.get_by_label("Link", exact=True)
    expect(link).to_have_value(re.compile("/share/"))
    expect(link).to_be_focused()
    ada.page.keyboard.press("Escape")
    find("choose the model")

    expect(ada.page.get_by_role("dialog", name="Models")).to_be_visible()


def test_an_archived_chat_can_be_unarchived(ada: Person) -> None:
    ada.ask("!script\nkept")
    address = ada.page.url
    ada.draft.press_sequentially("/archive")
    ada.draft.press("Enter")
    expect(ada.conversations).to_have_count(0)
    expect(ada.button("Undo")).to_be_visible()  # the server has it too
    ada.page.goto(address)
    expect(ada.answers).to_contain_text("kept")
    ada.draft.press_sequentially("/")
    commands = ada.page.get_by_role("listbox", name="Commands")
    expect(commands.get_by_role("option", name="/unarchive")).to_be_visible()
    expect(commands.get_by_role("option", name="/archive")).to_have_count(0)
    ada.draft.press_sequentially("unarchive")
    ada.draft.press("Enter")

    expect(ada.conversations).to_have_count(1)


def test_the_folded_sidebar_keeps_the_account_menu(ada: Person) -> None:
    ada.button("Fold the sidebar away").click()
    ada.choose(re.compile("settings and more"), "Settings")

    expect(ada.page.get_by_role("dialog", name="Settings")).to_be_visible()


def test_tokens_are_inspected_by_keyboard(ada: Person) -> None:
    ada.ask("!script\none two three")
    ada.button("Look inside").click()
    inside = ada.page.get_by_role("complementary", name="Inside the answer")
    tokens = inside.get_by_role("listbox", name="Tokens of the answer")
    tokens.focus()
    first = inside.get_by_role("status").inner_text()
    ada.page.keyboard.press("ArrowRight")
    expect(inside.get_by_role("status")).not_to_have_text(first)
    expect(tokens.get_by_role("option", selected=True)).to_have_count(1)
    ada.page.keyboard.press("Home")

    expect(inside.get_by_role("status")).to_have_text(first)


def test_on_a_phone_the_panel_keeps_the_focus_and_closes_on_escape(ada: Person) -> None:
    ada.ask("!script\none two three")
    ada.page.set_viewport_size({"width": 390, "height": 800})
    ada.button("Look inside").click()
    panel = ada.page.get_by_role("dialog", name="Inside the answer")
    expect(panel).to_be_visible()
    for _ in range(6):
        ada.page.keyboard.press("Tab")
        assert ada.page.evaluate(
            "document.activeElement === document.body"
            " || document.activeElement.closest('dialog') !== null"
        )
    ada.page.keyboard.press("Escape")

    expect(panel).to_have_count(0)
    expect(ada.button("Look inside")).to_be_focused()
