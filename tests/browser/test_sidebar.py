"""The conversation list: dates, names, folders and search."""

import time
from typing import Any

from playwright.sync_api import Browser, Locator, expect
from tests.browser.world import Person, Server, intercept, wait_until
from tests.unit.import_export.sample_exports import conversation, node

DAY_S = 86_400
LATER_MS = 11_000
TAKE_ALL_CONNECTIONS = """(turn) => {
    const take = () => fetch(`/backend-api/f/conversation/${turn}/events`);
    window.taken = Array.from({ length: 6 }, take);
}"""
"""A browser opens six connections to a server; further requests wait."""


def talk(title: str, *said: str, days: float = 0) -> dict[str, Any]:
    """A conversation in an export format, with alternating messages."""
    when = time.time() - days * DAY_S
    nodes = [
        node(
            f"{title}-{number}",
            f"{title}-{number - 1}" if number else None,
            ("user", "assistant")[number % 2],
            text,
            create_time=when,
        )
        for number, text in enumerate(said or (f"About {title}.",))
    ]
    times = {"create_time": when, "update_time": when}
    return conversation(*nodes, title=title, conversation_id=title, **times)


def import_conversations(person: Person, *talks: dict[str, Any]) -> None:
    """Imports these conversations."""
    person.post("import", list(talks))
    person.page.reload()
    row(person, talks[0]["title"]).wait_for()


def sidebar(person: Person) -> Locator:
    return person.page.get_by_role("navigation", name="Conversations")


def row(person: Person, title: str) -> Locator:
    return sidebar(person).get_by_role("link", name=title)


def group(person: Person, name: str) -> Locator:
    """The rows below a heading of the list."""
    return sidebar(person).get_by_role("region", name=name)


def folder(person: Person, name: str) -> Locator:
    """The rows of an open folder."""
    return sidebar(person).get_by_role("group", name=name)


def pinned(person: Person) -> list[str]:
    """The pinned titles, from the server."""
    return [line["title"] for line in person.get("conversations?is_pinned=true")["items"]]


def take(person: Person, title: str, item: str) -> None:
    person.choose(f"Options for {title}", item)


def undo(person: Person) -> None:
    person.page.get_by_role("region", name="Notices").get_by_role("button", name="Undo").click()


def make_folder(person: Person, name: str) -> None:
    person.button("New folder").click()
    person.page.get_by_label("Name of the folder").fill(name)
    person.page.keyboard.press("Enter")
    person.button(f"Options for the folder {name}").wait_for()


def test_conversations_are_grouped_by_the_date_of_the_last_message(ada: Person) -> None:
    days = {"Fresh": 0, "Recent": 1, "This week": 5, "This month": 20, "Ancient": 400}
    import_conversations(ada, *(talk(title, days=ago) for title, ago in days.items()))
    month = time.strftime("%B %Y", time.localtime(time.time() - 400 * DAY_S))

    headings = ["Today", "Yesterday", "Previous 7 days", "Previous 30 days", month]
    for heading, title in zip(headings, days, strict=True):
        expect(group(ada, heading).get_by_role("listitem")).to_have_count(1)
        expect(group(ada, heading)).to_contain_text(title)
    row(ada, "Ancient").click()
    expect(ada.page.get_by_text("This message was not answered.")).to_be_visible()
    ada.button("Try again").click()
    ada.wait_for_answer()
    expect(group(ada, "Today").get_by_role("link").first).to_contain_text("Ancient")
    expect(group(ada, month)).to_have_count(0)


def test_a_pinned_conversation_stays_on_top_until_unpinned(ada: Person) -> None:
    import_conversations(ada, talk("Old", days=3), talk("New"))
    with ada.page.expect_response("**/backend-api/conversation/*"):
        take(ada, "Old", "Pin")
    expect(group(ada, "Pinned").get_by_role("link")).to_have_text(["Old"])
    expect(group(ada, "Previous 7 days")).to_have_count(0)
    ada.page.reload()
    expect(group(ada, "Pinned").get_by_role("link")).to_have_text(["Old"])
    take(ada, "Old", "Unpin")

    expect(group(ada, "Previous 7 days").get_by_role("link")).to_have_text(["Old"])
    expect(group(ada, "Pinned")).to_have_count(0)


def test_a_change_is_saved_even_if_the_page_is_closed_at_once(ada: Person, server: Server) -> None:
    import_conversations(ada, talk("Stars"))
    with ada.page.expect_response("**/f/conversation") as answered:
        ada.say("!script tokens=4000 pace=20ms\nstill talking ")
    leaving = Person(ada.page.context.new_page(), server)
    leaving.visit()
    row(leaving, "Stars").wait_for()
    leaving.page.evaluate(TAKE_ALL_CONNECTIONS, answered.value.headers["x-turn-exchange-id"])
    with leaving.page.expect_request("**/backend-api/conversation/*"):
        take(leaving, "Stars", "Pin")
    leaving.page.close()  # almost always before the request has arrived

    wait_until(ada.page, lambda: pinned(ada) == ["Stars"], "The change was lost.")


def test_a_conversation_is_renamed_in_place(ada: Person) -> None:
    import_conversations(ada, talk("First"))
    row(ada, "First").click()
    ada.questions.wait_for()
    take(ada, "First", "Rename")
    field = ada.page.get_by_label("New title")
    expect(field).to_have_value("First")
    field.fill("Second")
    field.press("Enter")
    expect(row(ada, "Second")).to_be_focused()
    expect(ada.page.get_by_role("heading", name="Second")).to_be_visible()
    expect(ada.page).to_have_title("Second · hitsend")
    ada.page.keyboard.press("F2")
    field.fill("Third")
    field.press("Escape")
    expect(row(ada, "Second")).to_be_focused()
    ada.page.reload()

    expect(row(ada, "Second")).to_be_visible()
    expect(row(ada, "Third")).to_have_count(0)


def test_folders_are_created_filled_renamed_and_deleted_without_loss(ada: Person) -> None:
    import_conversations(ada, talk("Planets"), talk("Stars"))
    make_folder(ada, "Sky")
    expect(folder(ada, "Sky")).to_contain_text("Empty.")
    take(ada, "Planets", "Move to folder")
    ada.page.get_by_role("dialog").get_by_role("button", name="Sky").click()
    expect(folder(ada, "Sky").get_by_role("link")).to_have_text(["Planets"])
    expect(group(ada, "Today").get_by_role("link")).to_have_text(["Stars"])
    undo(ada)
    expect(group(ada, "Today").get_by_role("link")).to_have_count(2)
    take(ada, "Planets", "Move to folder")
    with ada.page.expect_response("**/backend-api/conversation/*"):
        ada.page.get_by_role("dialog").get_by_role("button", name="Sky").click()
    ada.choose("Options for the folder Sky", "Rename")
    ada.page.get_by_label("Name of the folder").fill("Heaven")
    with ada.page.expect_response("**/backend-api/folders/*"):
        ada.page.keyboard.press("Enter")
    ada.page.reload()
    expect(folder(ada, "Heaven").get_by_role("link")).to_have_text(["Planets"])
    ada.choose("Options for the folder Heaven", "Delete folder")
    ada.page.get_by_role("dialog").get_by_role("button", name="Delete folder").click()

    expect(group(ada, "Today").get_by_role("link")).to_have_count(2)
    expect(ada.button("Options for the folder")).to_have_count(0)
    assert ada.get("folders")["items"] == []


def test_a_conversation_is_dragged_into_a_folder_and_out_again(ada: Person) -> None:
    import_conversations(ada, talk("Planets"), talk("Stars"))
    make_folder(ada, "Sky")
    expect(folder(ada, "Sky")).to_contain_text("Empty.")
    row(ada, "Stars").drag_to(sidebar(ada).get_by_role("button", name="Sky", exact=True))
    expect(folder(ada, "Sky").get_by_role("link")).to_have_text(["Stars"])
    row(ada, "Stars").drag_to(row(ada, "Planets"))

    expect(group(ada, "Today").get_by_role("link")).to_have_count(2)
    expect(folder(ada, "Sky")).to_contain_text("Empty.")


def test_an_archived_conversation_leaves_the_list_and_can_return(ada: Person) -> None:
    import_conversations(ada, talk("Taxes", "The word is heliotrope."), talk("Stars"))
    row(ada, "Taxes").click()
    ada.questions.wait_for()
    take(ada, "Taxes", "Archive")
    expect(row(ada, "Taxes")).to_have_count(0)
    expect(ada.page.get_by_text("What is on your mind?")).to_be_visible()
    sidebar(ada).get_by_label("Search conversations").fill("heliotrope")
    expect(row(ada, "Taxes")).to_contain_text("Archived")
    sidebar(ada).get_by_label("Search conversations").press("Escape")
    ada.button("Archived").click()
    expect(group(ada, "Archived").get_by_role("link")).to_have_text(["Taxes"])
    take(ada, "Taxes", "Unarchive")
    expect(group(ada, "Archived")).to_contain_text("Nothing is archived.")
    ada.button("All conversations").click()

    expect(group(ada, "Today").get_by_role("link")).to_have_count(2)


def test_a_deleted_conversation_is_restored_to_its_place(ada: Person) -> None:
    import_conversations(ada, talk("One"), talk("Two", days=0.0001), talk("Three", days=0.0002))
    row(ada, "Two").click()
    expect(ada.questions).to_contain_text("About Two.")
    address = ada.page.url
    take(ada, "Two", "Delete")
    expect(group(ada, "Today").get_by_role("link")).to_have_text(["One", "Three"])
    expect(ada.page).not_to_have_url(address)
    undo(ada)

    expect(group(ada, "Today").get_by_role("link")).to_have_text(["One", "Two", "Three"])
    expect(ada.questions).to_contain_text("About Two.")
    expect(ada.page).to_have_url(address)


def test_a_deletion_is_final_once_its_notice_is_gone(ada: Person) -> None:
    ada.page.clock.install()
    import_conversations(ada, talk("Secret", "The word is heliotrope."), talk("Other"))
    row(ada, "Secret").click()
    ada.questions.wait_for()
    address = ada.page.url
    take(ada, "Secret", "Delete")
    notices = ada.page.get_by_role("region", name="Notices")
    expect(notices).to_contain_text("“Secret” is deleted.")
    ada.page.clock.fast_forward(LATER_MS)
    expect(notices).not_to_contain_text("Secret")
    ada.page.goto(address)

    expect(ada.page.get_by_text("This conversation cannot be opened")).to_be_visible()
    ada.page.get_by_label("Search conversations").fill("heliotrope")
    ada.page.clock.run_for(500)
    expect(ada.page.get_by_text("Nothing found for “heliotrope”.")).to_be_visible()
    assert "Secret" not in str(ada.get("conversations"))


def test_a_search_marks_its_matches_and_opens_the_message(ada: Person) -> None:
    filler = ["Something long.\n\n" * 30] * 12
    import_conversations(
        ada, talk("Flowers", *filler, "It was the heliotrope.", *filler), talk("Other")
    )
    row(ada, "Other").click()
    expect(ada.questions).to_contain_text("About Other.")
    ada.page.get_by_label("Search conversations").fill("helio")
    expect(ada.page.get_by_text("1 conversation found")).to_be_attached()
    expect(row(ada, "Flowers").locator("mark")).to_have_text(["heliotrope"])
    row(ada, "Flowers").click()

    expect(ada.messages.get_by_text("It was the heliotrope.")).to_be_in_viewport()
    expect(ada.page.get_by_role("alert").filter(has_text="no longer")).to_have_count(0)


def test_a_search_opens_a_message_on_another_branch(ada: Person) -> None:
    ada.ask("!script\nThe first answer is marigold.")
    ada.button("Edit message").click()
    ada.page.get_by_label("Edit message").last.fill("!script\nThe other answer.")
    ada.page.get_by_role("article", name="You").get_by_role("button", name="Send").click()
    expect(ada.answers).to_contain_text("The other answer.")
    row(ada, "New chat").first.click()
    ada.page.get_by_label("Search conversations").fill("marigold")
    ada.conversations.get_by_role("link").click()

    expect(ada.answers).to_contain_text("The first answer is marigold.")
    expect(ada.page.get_by_role("article", name="You")).to_contain_text("1/2")


def test_a_long_list_is_loaded_while_scrolling(ada: Person) -> None:
    import_conversations(ada, *(talk(f"Talk {number}", days=number / 1000) for number in range(90)))
    assert ada.conversations.count() < 90
    while ada.conversations.count() < 90:
        known = ada.conversations.count()
        ada.conversations.last.scroll_into_view_if_needed()
        expect(ada.conversations.nth(known)).to_be_attached()
    row(ada, "Talk 89").click()

    expect(ada.questions).to_contain_text("About Talk 89.")


def test_a_folded_sidebar_stays_folded(ada: Person) -> None:
    import_conversations(ada, talk("Stars"))
    ada.button("Fold the sidebar away").click()
    expect(row(ada, "Stars")).to_have_count(0)
    expect(ada.button("Show the sidebar")).to_be_focused()
    ada.page.reload()
    expect(sidebar(ada).get_by_role("link", name="New chat")).to_be_visible()
    expect(row(ada, "Stars")).to_have_count(0)
    ada.button("Show the sidebar").click()

    expect(row(ada, "Stars")).to_be_visible()


def test_the_drawer_of_a_phone_traps_and_returns_the_focus(ada: Person) -> None:
    ada.page.set_viewport_size({"width": 390, "height": 844})
    ada.post("import", [talk("Planets"), talk("Stars")])
    ada.page.reload()
    opener = ada.button("Open menu")
    opener.click()
    drawer = ada.page.get_by_role("dialog", name="Conversations")
    expect(drawer).to_be_visible()
    for _ in range(20):
        ada.page.keyboard.press("Tab")
        assert drawer.evaluate(
            "(drawer) => [document.body, drawer].some((place) => "
            "place === document.activeElement) "
            "|| drawer.contains(document.activeElement)"
        )
    ada.page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    expect(drawer).to_be_visible()
    ada.page.mouse.click(380, 400)
    expect(drawer).to_be_hidden()
    opener.click()
    take(ada, "Planets", "Delete")
    drawer.get_by_role("button", name="Undo").click()
    row(ada, "Planets").click()

    expect(drawer).to_be_hidden()
    expect(ada.questions).to_contain_text("About Planets.")


def test_on_a_touch_screen_a_long_title_leaves_room_for_its_menu(
    ada: Person, browser: Browser, server: Server
) -> None:
    state = ada.page.context.storage_state()
    touch = browser.new_context(storage_state=state, has_touch=True)
    touched = Person(touch.new_page(), server)
    touched.visit()
    touched.say("!script tokens=3000 pace=20ms\na title that is much longer than its line ")
    answering = sidebar(touched).locator(".answering")
    answering.wait_for()
    ends = """(dot) => [
        dot.parentElement.querySelector('.title').getBoundingClientRect().right,
        dot.getBoundingClientRect().left,
        dot.getBoundingClientRect().right,
        dot.closest('li').querySelector('button').getBoundingClientRect().left
    ]"""
    title_end, dot_start, dot_end, menu_start = answering.evaluate(ends)

    assert title_end <= dot_start < dot_end <= menu_start
    assert touched.violations == []
    touch.close()


def test_an_empty_list_says_so_and_a_failed_one_can_be_retried(ada: Person) -> None:
    expect(sidebar(ada)).to_contain_text("Your conversations will be listed here.")
    intercept(ada.page, "**/backend-api/conversations?*", lambda route: route.abort())
    ada.page.reload()
    expect(sidebar(ada).get_by_role("alert")).to_contain_text("cannot be reached")
    ada.page.unroute("**/backend-api/conversations?*")
    sidebar(ada).get_by_role("button", name="Try again").click()

    expect(sidebar(ada)).to_contain_text("Your conversations will be listed here.")
    expect(sidebar(ada).get_by_role("alert")).to_have_count(0)


def test_a_refused_change_is_reported_and_undone(ada: Person) -> None:
    import_conversations(ada, talk("Stars"))
    intercept(ada.page, "**/backend-api/conversation/*", lambda route: route.abort())
    take(ada, "Stars", "Delete")
    expect(ada.page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(row(ada, "Stars")).to_be_visible()
    take(ada, "Stars", "Rename")
    ada.page.get_by_label("New title").fill("Suns")
    ada.page.keyboard.press("Enter")
    expect(sidebar(ada).get_by_role("alert")).to_contain_text("cannot be reached")
    expect(ada.page.get_by_label("New title")).to_have_value("Suns")
    ada.page.unroute("**/backend-api/conversation/*")
    ada.page.keyboard.press("Enter")

    expect(row(ada, "Suns")).to_be_visible()
