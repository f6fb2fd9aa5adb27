"""A message with a key or a card number in it is sent only after a question."""

from playwright.sync_api import Locator, Request, expect
from tests.browser.axe import accessibility_problems
from tests.browser.test_attachments import add_everyday, attached, attaching
from tests.browser.world import Person

KEY = "sk-ant-Zk3vQ81bLmN0pRsTuVwXyZ12"
CARD = "4111 1111 1111 1111"


def question(person: Person) -> Locator:
    return person.page.get_by_role("dialog", name="Send this secret?")


def collect_bodies(person: Person) -> list[str]:
    """Collects the body of every request from now on."""
    bodies: list[str] = []

    def take(request: Request) -> None:
        bodies.append(request.post_data or "")

    person.page.on("request", take)
    return bodies


def test_nothing_of_a_secret_leaves_the_page_before_the_person_says_so(ada: Person) -> None:
    bodies = collect_bodies(ada)
    with ada.page.expect_response("**/f/conversation/prepare"):
        ada.draft.press_sequentially("This is a key of mine: ")
    ada.draft.press_sequentially(f"{KEY} and more words")
    expect(ada.page.get_by_text("You will be asked before it is sent")).to_be_visible()
    ada.page.keyboard.press("Enter")

    expect(question(ada)).to_contain_text("API key")
    expect(question(ada)).to_contain_text("sk-a…yZ12")
    expect(question(ada)).not_to_contain_text(KEY)
    assert accessibility_problems(ada.page) == []
    question(ada).get_by_role("button", name="Keep editing").click()
    expect(question(ada)).to_be_hidden()
    expect(ada.draft).to_be_focused()
    expect(ada.draft).to_have_value(f"This is a key of mine: {KEY} and more words")
    assert not [body for body in bodies if KEY[:12] in body]


def test_a_secret_can_be_removed_from_the_message(ada: Person) -> None:
    bodies = collect_bodies(ada)
    ada.draft.fill(f"!script\nok\n{KEY} / {CARD}.")
    ada.button("Send").click()
    expect(question(ada).get_by_role("listitem")).to_have_count(2)
    question(ada).get_by_role("button", name="Remove and send").click()
    ada.wait_for_answer()

    assert ada.stored[0]["content"]["parts"] == ["!script\nok\n[API key] / [Card number]."]
    assert not [body for body in bodies if KEY[:12] in body or CARD in body]


def test_a_secret_that_was_sent_is_not_asked_about_again(ada: Person) -> None:
    ada.draft.fill(f"!script\nfirst {KEY}")
    ada.button("Send").click()
    question(ada).get_by_role("button", name="Send anyway").click()
    ada.wait_for_answer()
    ada.ask(f"!script\nsecond {KEY}")

    texts = [message["content"]["parts"][0] for message in ada.stored]
    assert [text.partition("[KEY_")[0] for text in texts[::2]] == [
        "!script\nfirst ",
        "!script\nsecond ",
    ]


def test_a_secret_in_what_is_attached_is_asked_about_too(ada: Person) -> None:
    add_everyday(ada)
    with attaching(ada) as dialog:
        dialog.get_by_role("button", name="notes://keys").click()
    bodies = collect_bodies(ada)
    ada.draft.fill("!script\nok")
    expect(ada.page.get_by_text("You will be asked before it is sent")).to_be_visible()
    ada.button("Send").click()
    expect(question(ada)).to_contain_text("“keys”, which is attached, seems to contain:")
    expect(question(ada)).to_contain_text("sk-a…yZ12")
    question(ada).get_by_role("button", name="Keep editing").click()
    expect(attached(ada)).to_have_count(1)
    ada.button("Send").click()
    question(ada).get_by_role("button", name="Remove and send").click()
    ada.wait_for_answer()

    [kept] = ada.stored[0]["metadata"]["attachments"]
    assert kept["text"] == "The key is [API key], do not lose it."
    assert not [body for body in bodies if KEY[:12] in body]


def test_an_edited_message_is_asked_about_too(ada: Person) -> None:
    ada.ask("!script\nhello")
    ada.questions.first.hover()
    ada.button("Edit").click()
    editor = ada.page.get_by_role("textbox", name="Edit message")
    editor.fill(f"!script\nchanged {CARD}")
    ada.page.keyboard.press("Enter")
    question(ada).get_by_role("button", name="Keep editing").click()
    expect(editor).to_have_value(f"!script\nchanged {CARD}")
    editor.press("Enter")
    question(ada).get_by_role("button", name="Remove and send").click()
    ada.wait_for_answer()

    expect(ada.questions.last).to_contain_text("changed [Card number]")
