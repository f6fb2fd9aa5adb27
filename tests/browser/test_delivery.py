"""Delivery of messages: none is lost, sent twice or sent after it was withdrawn."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, Locator, Page, Route, WebSocket, expect
from tests.browser.world import Network, Person, Server, intercept, wait_until

POST = "**/backend-api/f/conversation"


class HeldRequests:
    """Requests that are held back until `release`."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.routes: list[Route] = []
        self._page, self._pattern = page, pattern
        intercept(page, pattern, lambda route: self.routes.append(route))

    def wait_for(self, number: int = 1) -> None:
        complaint = f"There were not {number} requests."
        wait_until(self._page, lambda: len(self.routes) >= number, complaint)

    def release(self) -> None:
        self._page.unroute(self._pattern)


def waiting(person: Person) -> Locator:
    return person.page.get_by_role("region", name="Waiting for the connection")


def new_chat(person: Person) -> None:
    person.page.get_by_role("link", name="New chat", exact=True).click()


def open_conversation(person: Person, title: str) -> None:
    person.page.get_by_role("navigation").get_by_role("link", name=re.compile(title)).click()


def stored_questions(person: Person) -> list[str]:
    """Returns the questions of the open conversation as the server stores them."""
    return [m["content"]["parts"][0] for m in person.stored if m["author"]["role"] == "user"]


def second_tab(person: Person, server: Server) -> Person:
    tab = Person(person.page.context.new_page(), server)
    tab.visit()
    tab.draft.wait_for()
    return tab


def test_nothing_can_be_sent_before_the_conversation_is_loaded(ada: Person) -> None:
    ada.ask("!script\nfirst")
    reading = HeldRequests(ada.page, "**/backend-api/conversation/*")
    ada.page.reload()
    ada.draft.fill("!script\nsecond")
    expect(ada.button("Send")).to_be_disabled()
    ada.draft.press("Enter")
    expect(ada.draft).to_have_value("!script\nsecond")
    reading.release()
    expect(ada.answers.locator(".prose")).to_have_text("first")
    ada.draft.press("Enter")
    expect(ada.answers.locator(".prose")).to_have_text(["first", "second"])
    ada.wait_for_answer()

    parents = [message["metadata"].get("parent_id") for message in ada.stored]
    assert len(set(parents)) == 4


def test_a_message_being_sent_arrives_after_leaving_the_conversation(ada: Person) -> None:
    ada.ask("!script\nelsewhere")
    new_chat(ada)
    posting = HeldRequests(ada.page, POST)
    ada.say("!script\nprecious")
    expect(ada.page.get_by_text("Connecting to the server")).to_be_visible()
    new_chat(ada)
    expect(ada.questions).to_have_count(0)
    expect(ada.draft).to_have_value("")
    open_conversation(ada, "elsewhere")
    expect(ada.answers.locator(".prose")).to_have_text("elsewhere")
    posting.release()
    expect(ada.conversations).to_have_count(2)
    open_conversation(ada, "precious")

    expect(ada.answers.locator(".prose")).to_have_text("precious")
    assert stored_questions(ada) == ["!script\nprecious"]


def test_returning_to_a_message_being_sent_shows_it(ada: Person) -> None:
    ada.ask("!script\nfirst")
    posting = HeldRequests(ada.page, POST)
    ada.say("!script\nsecond")
    new_chat(ada)
    expect(ada.questions).to_have_count(0)
    open_conversation(ada, "first")
    expect(ada.questions).to_have_count(2)
    expect(ada.page.get_by_text("Connecting to the server")).to_be_visible()
    posting.release()
    expect(ada.answers.locator(".prose")).to_have_text(["first", "second"])
    ada.wait_for_answer()

    assert stored_questions(ada) == ["!script\nfirst", "!script\nsecond"]


def test_a_message_being_sent_survives_a_reload_and_a_language_change(ada: Person) -> None:
    posting = HeldRequests(ada.page, POST)
    ada.say("!script\nprecious")
    posting.wait_for()
    ada.page.reload()
    posting.wait_for(2)
    expect(ada.questions).to_have_text(re.compile("precious"))
    ada.page.evaluate("location.hash = '#settings/appearance'")
    settings = ada.page.get_by_role("dialog")
    settings.get_by_label("Language").select_option("de")
    posting.wait_for(3)
    ada.page.keyboard.press("Escape")
    posting.release()
    expect(ada.page.locator(".prose")).to_have_text("precious")

    assert stored_questions(ada) == ["!script\nprecious"]
    assert "precious" not in ada.page.evaluate("JSON.stringify(localStorage)")


def test_a_message_withdrawn_just_before_sending_is_not_sent(ada: Person) -> None:
    ada.ask("!script\nfirst")
    ada.page.context.set_offline(True)
    ada.say("take me back")
    expect(waiting(ada)).to_be_visible()
    asking = HeldRequests(ada.page, "**/backend-api/status")
    ada.page.context.set_offline(False)
    asking.wait_for(2)
    ada.button("Take it back").click()
    expect(ada.draft).to_have_value("take me back")
    asking.release()
    ada.page.reload()

    expect(ada.draft).to_have_value("take me back")
    assert stored_questions(ada) == ["!script\nfirst"]


def test_the_offline_state_of_the_browser_is_not_trusted(
    new_person: Callable[[], Person],
) -> None:
    ada = new_person()
    ada.page.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => false })")
    ada.visit()
    ada.create_account("ada")
    ada.say("!script tokens=40 pace=40ms\nhere ")
    ada.answers.locator(".prose").wait_for()

    expect(ada.page.get_by_text("You are offline")).to_be_hidden()
    ada.wait_for_answer()


def test_a_queued_message_is_sent_from_any_conversation(ada: Person) -> None:
    ada.ask("!script\nfirst")
    new_chat(ada)
    ada.ask("!script\nother")
    open_conversation(ada, "first")
    ada.page.context.set_offline(True)
    ada.say("!script\nsecond")
    expect(waiting(ada)).to_be_visible()
    open_conversation(ada, "other")
    row = ada.conversations.filter(has_text="first")
    expect(row).to_contain_text("a message waits for the connection")
    ada.page.context.set_offline(False)
    expect(row).not_to_contain_text("a message waits")
    expect(ada.answers.locator(".prose")).to_have_text("other")
    open_conversation(ada, "first")

    expect(ada.answers.locator(".prose")).to_have_text(["first", "second"])


def test_a_message_withdrawn_in_one_tab_is_not_sent_by_another(ada: Person, server: Server) -> None:
    other = second_tab(ada, server)
    ada.page.context.set_offline(True)
    ada.say("!script\nsent once, or never")
    expect(waiting(other)).to_contain_text("sent once, or never")
    other.button("Take it back").click()
    expect(waiting(ada)).to_be_hidden()
    ada.page.context.set_offline(False)
    other.draft.press("Enter")
    expect(other.answers.locator(".prose")).to_have_text("sent once, or never")

    assert stored_questions(other) == ["!script\nsent once, or never"]
    expect(ada.questions).to_have_count(0)
    assert len(ada.get("conversations")["items"]) == 1


def test_a_tab_without_a_draft_keeps_the_draft_of_another(ada: Person, server: Server) -> None:
    ada.ask("!script\nfirst")
    new_chat(ada)
    other = second_tab(ada, server)
    other.draft.fill("written in the other tab")
    kept = "() => JSON.stringify(localStorage).includes('written in the other tab')"
    ada.page.wait_for_function(kept)
    open_conversation(ada, "first")
    new_chat(ada)

    expect(ada.draft).to_have_value("written in the other tab")


def test_a_refused_edit_stays_in_the_editor(ada: Person) -> None:
    ada.ask("!script\nfirst")
    ada.ask("!script\nlast")
    error: dict[str, Any] = {"message": "Wait a moment.", "code": None, "type": "x"}
    intercept(ada.page, POST, lambda route: route.fulfill(status=400, json={"error": error}))
    ada.questions.first.hover()
    ada.questions.first.get_by_role("button", name="Edit message").click()
    editor = ada.page.get_by_role("textbox", name="Edit message")
    editor.fill("!script\nedited")
    editor.press("Enter")
    expect(ada.page.get_by_role("alert").filter(has_text="Wait a moment.")).to_be_visible()
    expect(editor).to_have_value("!script\nedited")
    expect(ada.draft).to_have_value("")
    expect(ada.answers.locator(".prose")).to_have_text(["first", "last"])
    ada.page.unroute(POST)
    editor.press("Enter")

    expect(ada.answers.locator(".prose")).to_have_text("edited")


def test_a_second_click_on_send_stops_nothing(ada: Person) -> None:
    ada.draft.fill("!script tokens=40 pace=10ms\nword ")
    ada.button("Send").dblclick()
    ada.wait_for_answer()

    assert ada.answer_text == " ".join(["word"] * 20)
    assert len(stored_questions(ada)) == 1


def test_a_message_is_sent_again_if_the_response_is_lost(ada: Person) -> None:
    ada.page.clock.install()
    lost: list[Route] = []
    intercept(ada.page, POST, lambda route: lost.append(route), times=1)
    ada.say("!script\nhello")
    wait_until(ada.page, lambda: lost != [], "Nothing was sent.")
    ada.page.clock.run_for(11_000)
    expect(ada.answers.locator(".prose")).to_have_text("hello")

    assert stored_questions(ada) == ["!script\nhello"]


def test_an_error_of_the_proxy_is_no_refusal(ada: Person) -> None:
    intercept(ada.page, POST, lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    ada.say("!script\nhello")
    expect(waiting(ada)).to_contain_text("hello")
    ada.page.unroute(POST)

    expect(ada.answers.locator(".prose")).to_have_text("hello")


def test_the_settings_stay_open_when_the_first_message_is_accepted(ada: Person) -> None:
    posting = HeldRequests(ada.page, POST)
    ada.say("!script\nslow to go")
    posting.wait_for()
    ada.page.keyboard.press("ControlOrMeta+,")
    settings = ada.page.get_by_role("dialog", name="Settings")
    expect(settings).to_be_visible()
    posting.release()
    expect(ada.page).to_have_url(re.compile("/c/.+#settings/"))

    expect(settings).to_be_visible()


def test_an_answer_can_be_stopped_while_the_server_is_down(ada: Person, server: Server) -> None:
    ada.say("!script tokens=4000 pace=20ms\nword ")
    expect(ada.answers.locator(".prose")).to_contain_text("word word")
    server.kill()
    expect(ada.page.get_by_text("Reconnecting")).to_be_visible()
    ada.stop.click()
    expect(ada.page.get_by_text("You stopped this answer here.")).to_be_visible()
    ada.say("!script\nnext")
    expect(waiting(ada)).to_contain_text("next")
    server.start()

    expect(ada.answers.last.locator(".prose")).to_have_text("next")
    expect(ada.page.get_by_text("cut short by a restart")).to_be_visible()
    assert stored_questions(ada) == ["!script tokens=4000 pace=20ms\nword ", "!script\nnext"]


def test_an_answer_stopped_while_offline_ends_on_the_server_too(
    new_person: Callable[[], Person], network: Network
) -> None:
    ada = new_person()
    ada.url = network.url
    ada.visit()
    ada.create_account("ada")
    ada.say("!script tokens=4000 pace=20ms\nword ")
    expect(ada.answers.locator(".prose")).to_contain_text("word word")
    network.take_down()
    expect(ada.page.get_by_text("Reconnecting")).to_be_visible()
    ada.stop.click()
    expect(ada.button("Send")).to_be_visible()
    network.bring_back()
    expect(ada.page.get_by_text("You stopped this answer.", exact=True)).to_be_visible()

    assert ada.stored[-1]["metadata"]["finish_details"]["reason"] == "stopped"


def test_on_a_phone_enter_starts_a_line_in_the_editor(
    ada: Person, browser: Browser, server: Server
) -> None:
    ada.ask("!script\nfirst")
    state = ada.page.context.storage_state()
    phone = browser.new_context(
        storage_state=state, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800}
    )
    mobile = Person(phone.new_page(), server)
    mobile.visit("/" + ada.page.url.split("/", 3)[3])
    mobile.questions.get_by_role("button", name="Edit message").click()
    editor = mobile.page.get_by_role("textbox", name="Edit message")
    editor.press("Enter")

    expect(editor).to_have_value("!script\nfirst\n")
    assert mobile.violations == []
    phone.close()


ENDLESS = "!script tokens=4000 pace=20ms\nword "


class Sockets:
    """Records the WebSockets a page opens."""

    def __init__(self, person: Person) -> None:
        self.opened: list[WebSocket] = []
        self.frames: list[str] = []
        person.page.on("websocket", self._see)

    def _see(self, opened: WebSocket) -> None:
        self.opened.append(opened)
        opened.on("framereceived", lambda data: self.frames.append(str(data)))

    def wait_for(self, person: Person, text: str) -> None:
        def is_received() -> bool:
            return any(text in frame for frame in self.frames)

        wait_until(person.page, is_received, f"Nobody said {text}.")


def connect_through(network: Network, person: Person) -> Person:
    person.url = network.url
    person.visit()
    person.create_account("ada")
    return person


def check_answer_complete(person: Person) -> None:
    """Checks that the shown answer equals the stored one."""
    person.wait_for_answer()
    expect(person.answers.last.locator(".prose")).to_have_text(
        person.stored[-1]["content"]["parts"][0].strip()
    )


def test_an_answer_interrupted_several_times_is_received_completely(
    new_person: Callable[[], Person], network: Network
) -> None:
    ada = new_person()
    ada.page.route("**/celsius/ws/user", lambda route: route.abort())
    connect_through(network, ada).say(ENDLESS)
    for num_cuts in (1, 2, 3):
        expect(ada.answers.locator(".prose")).to_contain_text("word " * 10 * num_cuts)
        with ada.page.expect_request("**/f/conversation/resume"):
            network.cut()
    ada.stop.click()

    check_answer_complete(ada)


def test_an_interrupted_answer_resumes_over_the_socket(ada: Person) -> None:
    sockets = Sockets(ada)
    ada.page.reload()
    sockets.wait_for(ada, "connection_id")
    half = 'id: 1\nevent: delta_encoding\ndata: "v1"\n\n'
    taken: list[str] = []

    def cut(route: Route) -> None:
        """Delivers the message, but cuts the response after a few bytes."""
        answer = ada.page.request.post(
            route.request.url,
            data=route.request.post_data,
            headers=route.request.headers | {"idempotency-key": "cut"},
            timeout=20_000,
        )
        taken.append(answer.headers["x-turn-exchange-id"])
        headers = {"content-type": "text/event-stream", "x-turn-exchange-id": taken[0]}
        route.fulfill(status=200, headers=headers, body=half)

    intercept(ada.page, POST, cut)
    ada.say("!script tokens=20\nword ")

    check_answer_complete(ada)
    assert any('"catchups"' in frame and taken[0] in frame for frame in sockets.frames)


def test_a_second_tab_sees_the_answer_as_it_is_written(ada: Person, server: Server) -> None:
    ada.ask("!script\nfirst")
    other = second_tab(ada, server)
    sockets = Sockets(other)
    other.visit("/" + ada.page.url.split("/", 3)[3])
    expect(other.answers.locator(".prose")).to_have_text("first")
    sockets.wait_for(other, "connection_id")
    ada.say(ENDLESS)
    expect(other.answers.last.locator(".prose")).to_contain_text("word word word")
    expect(other.stop).to_be_visible()
    ada.stop.click()

    check_answer_complete(ada)
    check_answer_complete(other)
    expect(other.questions).to_have_count(2)


def test_other_tabs_show_that_a_conversation_is_being_answered(ada: Person, server: Server) -> None:
    other = second_tab(ada, server)
    sockets = Sockets(other)
    other.page.reload()
    sockets.wait_for(other, "connection_id")
    ada.say(ENDLESS)
    row = other.conversations.filter(has_text="word")
    expect(row).to_contain_text("being answered")
    ada.stop.click()
    ada.wait_for_answer()

    expect(row).not_to_contain_text("being answered")
    expect(other.conversations).to_have_count(1)


def test_a_late_title_is_shown_in_every_tab(ada: Person, server: Server) -> None:
    other = second_tab(ada, server)
    sockets = Sockets(other)
    other.page.reload()
    sockets.wait_for(other, "connection_id")
    ada.ask(
        "Could you say how electromagnetism, thermodynamics, photosynthesis, crystallography and "
        "oceanography came to be what they are?"
    )
    expect(ada.conversations).not_to_contain_text("Could you")
    title = ada.get("conversations")["items"][0]["title"]

    expect(ada.conversations).to_contain_text(title)
    expect(other.conversations).to_contain_text(title)
    expect(ada.page).to_have_title(re.compile(re.escape(title)))


def test_a_retry_after_header_is_respected(ada: Person) -> None:
    error: dict[str, Any] = {"message": "Wait.", "code": "rate_limit_exceeded", "type": "x"}
    intercept(
        ada.page,
        POST,
        lambda route: route.fulfill(
            status=429, json={"error": error}, headers={"retry-after": "2"}
        ),
        times=1,
    )
    ada.record_announcements("main", "Too many requests, trying again in . s")
    ada.say("!script\nhello")

    expect(ada.answers.locator(".prose")).to_have_text("hello")
    assert ada.announced
    assert stored_questions(ada) == ["!script\nhello"]
