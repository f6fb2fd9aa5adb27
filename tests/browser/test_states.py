"""The states of an answer: each is shown with a way out."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect
from tests.browser.test_delivery import ENDLESS, check_answer_complete
from tests.browser.world import Network, Person, Server, intercept

WORDS = " ".join(f"word{number}" for number in range(120))


def connected_through(network: Network, person: Person) -> Person:
    person.url = network.url
    person.visit()
    person.create_account("ada")
    return person


def state(person: Person, sentence: str | re.Pattern[str]) -> Locator:
    return person.messages.get_by_text(sentence).last


def test_sending_to_a_silent_server_can_be_cancelled(ada: Person) -> None:
    ada.page.clock.install()
    intercept(ada.page, "**/f/conversation", lambda _: None)
    ada.say("hello?")
    expect(state(ada, "Connecting to the server")).to_be_visible()
    ada.page.clock.run_for(7_000)
    expect(state(ada, re.compile(r"· ([6-9]|[1-9]\d) s"))).to_be_visible()
    ada.messages.get_by_role("button", name="Cancel").click()
    expect(state(ada, "Stopping")).to_be_visible()
    ada.page.clock.run_for(4_000)
    expect(ada.stop).to_have_count(0)
    ada.page.unroute_all()

    expect(ada.draft).to_have_value("hello?")
    ada.draft.press("Enter")
    ada.wait_for_answer()


def test_a_queued_answer_shows_its_position_and_can_be_cancelled(ada: Person) -> None:
    ada.record_announcements("main", "In line, [^·]*? ahead")
    ada.ask("!script queue=2 wait=600ms\nyour turn")
    assert ada.answer_text == "your turn"
    assert ada.announced == [
        "In line, 2 answers ahead",
        "In line, 1 answer ahead",
    ]
    ada.say("!script queue=9 wait=60s\nnever")
    expect(state(ada, "In line, 9 answers ahead")).to_be_visible()
    ada.stop.click()

    expect(ada.stop).to_have_count(0)
    expect(state(ada, "In line")).to_have_count(0)
    expect(ada.draft).to_be_enabled()


def test_loading_the_model_and_reading_the_prompt_are_shown(ada: Person) -> None:
    sentences = "The model is being loaded|Reading your message"
    ada.record_announcements("[aria-label=Messages]", sentences)
    ada.ask("!script load=600ms\nready")
    assert "The model is being loaded" in ada.announced
    expect(state(ada, "The model is being loaded")).to_have_count(0)
    ada.page.evaluate("window.announced = []")
    ada.ask("!script first=600ms\nread")
    assert ada.announced == ["Reading your message"]

    expect(state(ada, "Reading your message")).to_have_count(0)
    expect(ada.answers.locator(".prose")).to_have_text(["ready", "read"])


def test_a_stalled_engine_is_reported_and_can_be_stopped(ada: Person) -> None:
    ada.page.clock.install()
    ada.say(f"!script hang=20\n{WORDS}")
    expect(ada.answers.locator(".prose")).to_contain_text("word3")
    ada.page.clock.run_for(12_000)
    expect(state(ada, "No new word yet")).to_be_visible()
    ada.page.clock.resume()  # a stopped clock draws nothing that arrives later
    ada.messages.get_by_role("button", name="Cancel").click()

    expect(ada.page.get_by_text("You stopped this answer.")).to_be_visible()
    expect(ada.button("Continue")).to_be_visible()


def test_a_full_disk_is_named_while_an_answer_waits_for_it(ada: Person) -> None:
    ada.page.clock.install()
    ada.say(f"!script hang=20\n{WORDS}")
    expect(ada.answers.locator(".prose")).to_contain_text("word3")
    intercept(
        ada.page,
        "**/backend-api/status",
        lambda route: route.fulfill(json=route.fetch().json() | {"store": "disk_full"}),
    )
    ada.page.clock.run_for(12_000)
    expect(state(ada, re.compile("The answer waits until there is room"))).to_be_visible()
    expect(ada.page.get_by_text("The server’s disk is full, so nothing")).to_be_visible()
    ada.page.unroute_all(behavior="wait")
    ada.page.clock.run_for(5_000)
    expect(state(ada, "No new word yet")).to_be_visible()
    expect(ada.page.get_by_text("The server’s disk is full")).to_have_count(0)


def test_an_answer_stopped_before_its_first_word_can_be_retried(ada: Person) -> None:
    ada.say("!script first=60s\nnever")
    expect(state(ada, "Reading your message")).to_be_visible()
    ada.stop.click()
    expect(ada.stop).to_have_count(0)
    ada.page.reload()
    expect(ada.questions).to_have_count(1)

    expect(ada.page.get_by_text(re.compile("You stopped this answer"))).to_be_visible()
    expect(ada.button(re.compile("again")).first).to_be_enabled()


def test_an_answer_interrupted_by_a_crash_can_be_continued(ada: Person, server: Server) -> None:
    ada.say(f"!script hang=30\n{WORDS}")
    ada.answers.locator(".prose", has_text="word29").wait_for()
    server.kill()
    expect(state(ada, "The connection was lost. Reconnecting")).to_be_visible()
    server.start()
    expect(ada.page.get_by_text("This answer was cut short by a restart.")).to_be_visible()
    expect(ada.button("Try again")).to_be_visible()
    ada.button("Continue").click()
    expect(ada.answers.locator(".prose")).to_have_text(WORDS)
    ada.wait_for_answer()

    expect(ada.answers).to_have_count(1)
    expect(ada.button("Try again")).to_have_count(0)


def test_an_engine_that_is_down_says_so_until_another_try_succeeds(ada: Person) -> None:
    ada.say("!script error")
    expect(ada.page.get_by_text("The script says that the engine is down.")).to_be_visible()
    ada.page.reload()
    expect(ada.button("Try again")).to_be_visible()
    ada.button("Try again").click()
    expect(ada.page.get_by_text("The script says that the engine is down.")).to_be_visible()
    expect(ada.stop).to_have_count(0)
    ada.ask("!script\nbetter now")

    assert ada.answer_text == "better now"


def test_an_answer_whose_engine_died_can_be_continued_or_retried(ada: Person) -> None:
    ada.say(f"!script die=40\n{WORDS}")
    expect(ada.page.get_by_text("The script says that the engine died.")).to_be_visible()
    begun = ada.answer_text
    assert WORDS.startswith(begun)
    ada.button("Continue").click()
    expect(ada.answers.locator(".prose")).to_have_text(WORDS)
    ada.wait_for_answer()
    expect(ada.page.get_by_text("The script says that the engine died.")).to_have_count(0)
    ada.page.get_by_role("button", name="Answer again", exact=True).click()

    expect(ada.answers.get_by_text("Version 2 of 2")).to_have_count(1)
    expect(ada.button("Try again")).to_be_visible()


def test_a_message_that_exceeds_the_window_is_refused_and_returned(ada: Person) -> None:
    long = "word " * 9_000
    ada.say(long)
    refusal = ada.page.get_by_role("alert").filter(has_text="tokens")
    expect(refusal).to_contain_text("8,192")
    expect(ada.draft).to_have_value(long)
    expect(ada.conversations).to_have_count(0)
    ada.ask("!script\nshorter")

    expect(refusal).to_have_count(0)
    assert ada.answer_text == "shorter"


def test_going_offline_during_an_answer_is_reported_and_loses_nothing(
    new_person: Callable[[], Person], network: Network
) -> None:
    ada = connected_through(network, new_person())
    ada.say(ENDLESS)
    expect(ada.answers.locator(".prose")).to_contain_text("word word")
    ada.page.context.set_offline(True)
    network.take_down()
    expect(state(ada, "You are offline. The answer goes on without you")).to_be_visible()
    network.bring_back()
    ada.page.context.set_offline(False)
    expect(state(ada, "You are offline")).to_have_count(0)
    ada.stop.click()

    check_answer_complete(ada)


def test_a_conversation_opens_once_the_server_is_back(
    new_person: Callable[[], Person], network: Network
) -> None:
    ada = connected_through(network, new_person())
    ada.ask("!script\nhello")
    ada.page.get_by_role("link", name="New chat", exact=True).click()
    network.take_down()
    ada.conversations.get_by_role("link").first.click()
    expect(ada.page.get_by_role("heading", name="The server cannot be reached")).to_be_visible()
    network.bring_back()

    expect(ada.answers.locator(".prose")).to_have_text("hello")


def test_a_missing_conversation_says_so(ada: Person) -> None:
    ada.visit("/c/00000000-0000-4000-8000-000000000000")

    told = ada.page.get_by_role("heading", name="This conversation cannot be opened")
    expect(told).to_be_visible()
    expect(ada.draft).to_have_count(0)


def test_a_screen_reader_announces_only_the_start_and_the_end(ada: Person) -> None:
    ada.record_announcements("main > [role=status]", ".+")
    ada.ask(f"!script pace=3ms\n{WORDS}")
    ada.say("!script pace=20ms tokens=2000\nmore ")
    ada.answers.last.locator(".prose", has_text="more").wait_for()
    ada.stop.click()
    ada.wait_for_answer()
    ada.say("!script error")
    expect(ada.button("Try again")).to_be_visible()

    assert ada.announced == [
        "Answering",
        "Answer finished, 120 words",
        "Answering",
        "Answer stopped",
        "Answering",
        "The answer failed",
    ]
