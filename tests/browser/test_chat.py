import re
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Request, expect
from tests.browser.axe import accessibility_problems
from tests.browser.test_delivery import ENDLESS, check_answer_complete
from tests.browser.world import Network, Person, Server, wait_until

WORDS = " ".join(f"word{number}" for number in range(120))
SLOWLY = f"!script pace=15ms\n{WORDS}"
FALLS_SILENT = f"!script hang=20\n{WORDS}"
BEFORE_SILENCE = " ".join(WORDS.split()[:20])
AT_ITS_END = "(list) => list.scrollHeight - list.scrollTop - list.clientHeight < 40"


class Resumes:
    """Counts how often the page resumed a turn, over the socket or HTTP."""

    def __init__(self, person: Person) -> None:
        self.count = 0
        self._page = person.page
        self._page.on("websocket", lambda socket: socket.on("framesent", self._see_frame))
        self._page.on("request", self._see_request)

    def wait_for(self, count: int) -> None:
        wait_until(self._page, lambda: self.count >= count, f"It did not come back {count} times.")

    def _see_frame(self, frame: str | bytes) -> None:
        self.count += '"subscribe"' in str(frame)

    def _see_request(self, request: Request) -> None:
        self.count += request.url.endswith("/f/conversation/resume")


def test_an_answer_is_shown_while_it_grows(ada: Person) -> None:
    ada.record_announcements("[aria-busy=true] .prose", "[^]+")
    ada.ask(SLOWLY)

    assert len(ada.announced) > 2
    assert all(WORDS.startswith(seen.strip()) for seen in ada.announced)
    assert ada.answer_text == WORDS
    expect(ada.answers.last).to_contain_text(re.compile(r"\d+ tokens · [\d,.]+ tokens/s"))


def test_a_new_conversation_gets_an_address_and_a_place_in_the_list(ada: Person) -> None:
    ada.ask("What is a turn?")

    assert re.search(r"/c/[\w-]+$", ada.page.url)
    expect(ada.conversations).to_have_count(1)
    expect(ada.conversations.first).to_contain_text("What is a turn?")


def test_stopping_keeps_what_was_said(ada: Person) -> None:
    ada.say(FALLS_SILENT)
    expect(ada.answers.locator(".prose")).to_have_text(BEFORE_SILENCE)
    ada.stop.click()
    ada.wait_for_answer()
    expect(ada.page.get_by_text("You stopped this answer.")).to_be_visible()
    assert ada.answer_text == BEFORE_SILENCE
    ada.page.reload()
    ada.wait_for_answer()

    assert ada.answer_text == BEFORE_SILENCE


def test_a_reload_in_the_middle_of_an_answer_shows_all_of_it(ada: Person) -> None:
    ada.say(ENDLESS)
    expect(ada.answers.locator(".prose")).to_contain_text("word word")
    ada.page.reload()
    ada.stop.wait_for()
    num_chars = len(ada.answer_text)
    ada.page.wait_for_function(
        "(before) => document.querySelector('.prose').innerText.length > before", arg=num_chars
    )
    ada.stop.click()

    check_answer_complete(ada)


def test_leaving_and_returning_shows_the_whole_answer(ada: Person) -> None:
    ada.say(SLOWLY)
    ada.answers.locator(".prose", has_text="word9").wait_for()
    ada.page.get_by_role("link", name="New chat", exact=True).click()
    expect(ada.page.get_by_text("What is on your mind?")).to_be_visible()
    ada.page.go_back()
    ada.wait_for_answer()

    assert ada.answer_text == WORDS


def test_repeated_connection_losses_lose_no_text(
    new_person: Callable[[], Person], network: Network
) -> None:
    ada = new_person()
    ada.url = network.url
    returns = Resumes(ada)
    ada.visit()
    ada.create_account("ada")
    ada.say(ENDLESS)
    for num_words in (5, 20, 40):
        expect(ada.answers.locator(".prose")).to_contain_text("word " * num_words)
        count = returns.count
        network.cut()
        returns.wait_for(count + 1)
    ada.stop.click()

    check_answer_complete(ada)


def test_a_crash_of_the_engine_is_reported_and_keeps_the_text(ada: Person) -> None:
    ada.say(f"!script pace=5ms die=40\n{WORDS}")
    ada.page.get_by_role("button", name="Try again").wait_for()
    said = ada.answer_text
    assert said
    assert WORDS.startswith(said)
    ada.page.reload()
    ada.page.get_by_role("button", name="Try again").wait_for()

    assert ada.answer_text == said


def test_an_engine_that_is_down_is_reported_and_can_be_retried(ada: Person) -> None:
    ada.say("!script error")
    ada.page.get_by_role("button", name="Try again").click()

    expect(ada.page.get_by_role("button", name="Try again")).to_be_visible()
    expect(ada.questions).to_have_count(1)


def test_a_killed_and_restarted_server_has_lost_nothing(ada: Person, server: Server) -> None:
    ada.say(FALLS_SILENT)
    expect(ada.answers.locator(".prose")).to_have_text(BEFORE_SILENCE)
    server.kill()
    server.start()
    ada.wait_for_answer()

    assert ada.answer_text == BEFORE_SILENCE
    expect(ada.page.get_by_role("button", name="Try again")).to_be_visible()


def test_an_edited_message_is_a_branch_and_both_can_be_read(ada: Person) -> None:
    ada.ask("!script\nfirst answer")
    ada.questions.hover()
    ada.page.get_by_role("button", name="Edit message").click()
    ada.page.get_by_label("Edit message").fill("!script\nsecond answer")
    ada.page.get_by_label("Edit message").press("Enter")
    expect(ada.answers.locator(".prose")).to_have_text("second answer")
    ada.wait_for_answer()
    expect(ada.questions).to_contain_text("2/2")
    with ada.page.expect_response("**/backend-api/conversation/*"):
        ada.page.get_by_role("button", name="Previous version").click()
    expect(ada.answers.locator(".prose")).to_have_text("first answer")
    ada.page.reload()

    expect(ada.answers.locator(".prose")).to_have_text("first answer")
    expect(ada.questions).to_contain_text("1/2")


def test_a_second_answer_is_a_branch_beside_the_first(ada: Person) -> None:
    ada.ask("!script\nthe same again")
    ada.page.get_by_role("button", name="Answer again", exact=True).click()
    expect(ada.answers).to_contain_text("2/2")
    ada.wait_for_answer()
    ada.page.get_by_role("button", name="Previous version").click()

    expect(ada.answers).to_contain_text("1/2")
    expect(ada.answers).to_have_count(1)


def test_a_conversation_continues_after_the_first_answer(ada: Person) -> None:
    ada.ask("!script\none")
    ada.ask("!script\ntwo")
    ada.page.reload()

    expect(ada.answers.locator(".prose")).to_have_text(["one", "two"])


def test_scrolling_follows_only_a_reader_at_the_bottom(ada: Person) -> None:
    lines = "\n\n".join(f"Paragraph {number}." for number in range(90))
    ada.say(f"!script pace=12ms\n{lines}")
    messages = ada.page.get_by_role("region", name="Messages")
    ada.answers.get_by_text("Paragraph 40.").wait_for()
    ada.page.wait_for_function(AT_ITS_END, arg=messages.element_handle())
    messages.evaluate("(list) => list.scrollTo(0, 0)")
    ada.page.get_by_role("button", name="To the newest").wait_for()
    ada.wait_for_answer()
    assert messages.evaluate("(list) => list.scrollTop") == 0
    ada.page.get_by_role("button", name="To the newest").click()

    expect(ada.answers.get_by_text("Paragraph 89.")).to_be_in_viewport()


def test_a_focus_that_follows_a_scroll_at_once_does_not_undo_it(ada: Person) -> None:
    lines = "\n\n".join(f"Paragraph {number}." for number in range(90))
    ada.ask(f"!script\n{lines}")
    messages = ada.page.get_by_role("region", name="Messages")
    ada.page.wait_for_function(AT_ITS_END, arg=messages.element_handle())
    distance = messages.evaluate("""async (list) => {
        const before = list.scrollTop;
        list.scrollTop -= 300;
        list.querySelector('[data-row] button').focus({ preventScroll: true });
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        return before - list.scrollTop;
    }""")
    assert distance == 300


def test_an_answer_can_be_inspected(ada: Person) -> None:
    ada.ask("!script\nGlass box.")
    ada.page.get_by_role("button", name="Look inside").click()
    inside = ada.page.get_by_role("complementary", name="Inside the answer")

    expect(inside).to_contain_text("Prompt encoded")
    expect(inside).to_contain_text("Turn finished")
    expect(inside.get_by_role("listbox", name="Tokens of the answer")).to_have_text("Glass box.")
    expect(inside.get_by_role("definition").first).to_have_text(re.compile(r"^\d+$"))
    ada.page.keyboard.press("Escape")
    expect(inside).to_have_count(0)


def test_a_refused_message_returns_to_the_draft(ada: Person) -> None:
    long = "too long " * 20_000
    ada.say(long)

    expect(ada.page.get_by_role("alert").filter(has_text="tokens")).to_be_visible()
    expect(ada.draft).to_have_value(long)
    expect(ada.questions).to_have_count(0)


def test_what_the_model_thinks_is_folded_above_the_answer(ada: Person) -> None:
    thoughts = "Yeast eats sugar and makes gas."
    ada.say(f"!script pace=60ms\n<think>{thoughts}</think>\nBecause of yeast.")
    ada.page.get_by_text("Thinking…").click()
    expect(ada.answers.last.get_by_text("Yeast eats")).to_be_visible()
    ada.wait_for_answer()
    expect(ada.answers.last.get_by_text(re.compile("^Thought for "))).to_be_visible()
    ada.visit(urlsplit(ada.page.url).path)
    folded = ada.answers.last.get_by_text(thoughts)
    expect(ada.answers.last).to_contain_text("Because of yeast.")
    expect(folded).to_be_hidden()
    ada.answers.last.get_by_text(re.compile("^Thought for ")).click()
    expect(folded).to_be_visible()
    assert accessibility_problems(ada.page) == []
