"""Open connections: over HTTP/1.1 all tabs of a browser share six connections to a server, and a
Send must wait while all of them are in use."""

import re

import pytest
from playwright.sync_api import expect
from tests.browser.test_delivery import Sockets, check_answer_complete
from tests.browser.world import Person, Server

NUM_TABS = 7
QUESTION = (
    "Could you say how electromagnetism, thermodynamics, photosynthesis, crystallography and "
    "oceanography came to be what they are?"
)
TITLE = re.compile("Electromagnetism thermodynamics crystallography")
HIDE = """
Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
document.dispatchEvent(new Event('visibilitychange'));
"""


def new_tab(person: Person, server: Server, *, is_connected: bool = False) -> Person:
    tab = Person(person.page.context.new_page(), server)
    sockets = Sockets(tab)
    tab.visit()
    tab.draft.wait_for()
    if is_connected:
        sockets.wait_for(tab, "connection_id")
    return tab


@pytest.mark.parametrize("has_socket", [True, False])
def test_answers_without_a_title_leave_connections_for_the_next(
    ada: Person, bob: Person, server: Server, has_socket: bool
) -> None:
    if not has_socket:
        ada.page.context.route("**/celsius/ws/user", lambda route: route.abort())
    bob.say("!script tokens=4000 pace=20ms\nwhoever is answered keeps titles waiting ")
    bob.answers.wait_for()
    tabs = []
    for _ in range(NUM_TABS):
        tabs.append(new_tab(ada, server, is_connected=has_socket))
        tabs[-1].say(QUESTION)
        expect(tabs[-1].answers).to_have_attribute("aria-busy", "false")
        expect(tabs[-1].page).to_have_title(re.compile("Could you"))
    bob.stop.click()

    expect(tabs[-1].page).to_have_title(TITLE)
    if has_socket:
        expect(tabs[-2].page).to_have_title(TITLE)
    newest, before = ada.get("conversations")["items"][:2]
    assert TITLE.search(newest["title"])
    assert TITLE.search(before["title"])
    assert [note for tab in tabs for note in tab.violations] == []


def test_answers_in_the_background_leave_connections_for_the_next(
    ada: Person, server: Server
) -> None:
    tabs = []
    for _ in range(NUM_TABS):
        tab = new_tab(ada, server, is_connected=True)
        tab.say("!script tokens=4000 pace=50ms\nword ")
        expect(tab.answers).to_contain_text("word word")
        tab.page.evaluate(HIDE)
        tabs.append(tab)
    assert all(tab.stop.is_visible() for tab in tabs)

    for tab in tabs:
        tab.stop.click()
        check_answer_complete(tab)
        assert tab.violations == []
