"""The composer: nothing typed, pasted or dropped there is lost."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Request, expect
from tests.browser.world import Network, Person, Server, intercept

CODE = "    def first(items):\n\treturn items[0]\n\n\n" + "".join(
    f"        line_{number} = '`{number}` <b>&amp;</b>  '\n" for number in range(400)
)
DROP = """
(area, { kind, name, content }) => {
    const data = new DataTransfer();
    const bytes = Uint8Array.from(content, (letter) => letter.charCodeAt(0));
    data.items.add(new File([bytes], name));
    const event = kind === 'paste'
        ? new ClipboardEvent(kind, { clipboardData: data, bubbles: true, cancelable: true })
        : new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true });
    area.dispatchEvent(event);
}
"""
COMPLETIONS = "**/generate_autocompletions"


def height(box: Locator) -> float:
    bounds = box.bounding_box()
    assert bounds is not None
    return bounds["height"]


def give_file(person: Person, kind: str, name: str, content: bytes) -> None:
    letters = content.decode("latin-1")
    person.draft.evaluate(DROP, {"kind": kind, "name": name, "content": letters})


def test_enter_sends_and_shift_enter_starts_a_line_in_a_growing_box(ada: Person) -> None:
    expect(ada.draft).to_be_focused()
    low = height(ada.draft)
    ada.page.keyboard.type("one")
    for _ in range(3):
        ada.page.keyboard.press("Shift+Enter")
    ada.page.keyboard.type("four")
    expect(ada.draft).to_have_value("one\n\n\nfour")
    assert height(ada.draft) > 2 * low
    ada.page.keyboard.press("Enter")
    ada.wait_for_answer()

    expect(ada.draft).to_have_value("")
    assert height(ada.draft) == low
    assert ada.stored[0]["content"]["parts"] == ["one\n\n\nfour"]
    ada.draft.fill("  \n ")
    expect(ada.button("Send")).to_be_disabled()


def test_pasted_text_is_sent_and_stored_unchanged(ada: Person) -> None:
    ada.draft.focus()
    ada.paste(CODE)
    expect(ada.draft).to_have_value(CODE)
    assert height(ada.draft) <= 0.4 * ada.page.evaluate("innerHeight")
    ada.page.keyboard.press("Enter")
    ada.wait_for_answer()

    assert ada.stored[0]["content"]["parts"] == [CODE]
    ada.page.reload()
    ada.questions.hover()
    ada.questions.get_by_role("button", name="Copy message").click()
    ada.expect_copied(CODE)


def test_a_draft_stays_with_its_conversation_until_its_writer_signs_out(ada: Person) -> None:
    ada.draft.fill("begun on the empty page")
    ada.page.reload()
    expect(ada.draft).to_have_value("begun on the empty page")
    ada.ask("!script\nhello")
    ada.draft.fill("to be\ncontinued")
    ada.page.get_by_role("link", name="New chat", exact=True).click()
    expect(ada.draft).to_have_value("")
    ada.draft.fill("another one")
    ada.page.go_back()
    expect(ada.draft).to_have_value("to be\ncontinued")
    ada.page.reload()
    expect(ada.draft).to_have_value("to be\ncontinued")
    ada.visit()
    expect(ada.draft).to_have_value("another one")
    ada.sign_out()
    assert "another one" not in ada.page.evaluate("JSON.stringify(localStorage)")
    ada.sign_in("ada")

    expect(ada.draft).to_have_value("")


def test_during_an_answer_one_can_type_and_stop_it(ada: Person) -> None:
    ada.say("!script pace=20ms tokens=3000\nword ")
    ada.answers.locator(".prose").wait_for()
    ada.draft.press_sequentially("next question")
    ada.draft.press("Enter")
    expect(ada.page.get_by_text("You can go on with this when the answer is")).to_be_visible()
    expect(ada.questions).to_have_count(1)
    ada.stop.click()
    ada.wait_for_answer()
    expect(ada.draft).to_be_focused()
    expect(ada.draft).to_have_value("next question")
    ada.draft.press("Enter")

    expect(ada.questions).to_have_count(2)
    ada.wait_for_answer()


def test_an_offline_message_waits_can_be_withdrawn_and_is_sent_once(ada: Person) -> None:
    ada.ask("!script\nfirst")
    waiting = ada.page.get_by_role("region", name="Waiting for the connection")
    ada.page.context.set_offline(True)
    expect(ada.page.get_by_text("You are offline. What you write is kept")).to_be_visible()
    ada.say("!script\nsecond")
    expect(waiting).to_contain_text("goes out by itself")
    expect(waiting).to_contain_text("second")
    waiting.get_by_role("button", name="Take it back").click()
    expect(waiting).to_be_hidden()
    expect(ada.draft).to_be_focused()
    expect(ada.draft).to_have_value("!script\nsecond")
    ada.draft.press("End")
    ada.draft.press_sequentially(" thought")
    ada.draft.press("Enter")
    expect(waiting).to_contain_text("second thought")
    ada.draft.fill("written meanwhile")
    expect(ada.button("Send")).to_be_disabled()
    ada.page.context.set_offline(False)
    expect(ada.answers.locator(".prose")).to_have_text(["first", "second thought"])
    ada.wait_for_answer()

    expect(waiting).to_be_hidden()
    expect(ada.draft).to_have_value("written meanwhile")
    said = [one["content"]["parts"] for one in ada.stored if one["author"]["role"] == "user"]
    assert said == [["!script\nfirst"], ["!script\nsecond thought"]]


@pytest.mark.parametrize("service_workers", ["allow"])
def test_a_queued_message_survives_a_reload(ada: Person) -> None:
    ada.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    ada.page.context.set_offline(True)
    ada.say("!script\nsaid in a tunnel")
    expect(ada.page.get_by_role("region", name="Waiting for the connection")).to_be_visible()
    ada.page.reload()
    expect(ada.page.get_by_role("heading", name="You are offline")).to_be_visible()
    ada.page.context.set_offline(False)
    expect(ada.answers.locator(".prose")).to_have_text("said in a tunnel")
    ada.wait_for_answer()
    ada.page.reload()

    expect(ada.answers.locator(".prose")).to_have_text("said in a tunnel")
    expect(ada.conversations).to_have_count(1)
    assert len(ada.stored) == 2


def test_a_message_waits_while_the_server_is_unreachable(
    new_person: Callable[[], Person], network: Network
) -> None:
    ada = new_person()
    ada.url = network.url
    ada.visit()
    ada.create_account("ada")
    network.take_down()
    ada.say("!script\nhello again")
    waiting = ada.page.get_by_role("region", name="Waiting for the connection")
    expect(waiting).to_contain_text("hello again")
    unreachable = ada.page.get_by_text("The server cannot be reached. Trying again by itself")
    expect(unreachable).to_be_visible()
    network.bring_back()
    expect(ada.answers.locator(".prose")).to_have_text("hello again")
    ada.wait_for_answer()

    expect(waiting).to_be_hidden()
    expect(unreachable).to_be_hidden()
    assert len(ada.stored) == 2


def test_tokens_are_counted_only_for_long_drafts(ada: Person) -> None:
    counted = ada.page.get_by_text(re.compile(r"^[\d,]+ of 8,192 tokens$"))
    ada.draft.fill("short")
    expect(counted).to_be_hidden()
    ada.draft.fill("word " * 5000)
    expect(counted).to_be_visible()
    ada.button("Send").click()
    ada.wait_for_answer()
    ada.draft.fill("more " * 5000)
    expect(ada.page.get_by_text("oldest messages will be left out")).to_be_visible()
    expect(counted).to_be_visible()
    ada.draft.fill("much " * 9000)
    expect(ada.page.get_by_text("This is too long for the model. Shorten it")).to_be_visible()
    expect(counted).to_be_hidden()
    ada.button("Send").click()
    expect(ada.page.get_by_role("alert").filter(has_text="tokens")).to_be_visible()

    expect(ada.draft).to_have_value("much " * 9000)


def test_a_slash_lists_the_commands(ada: Person) -> None:
    ada.ask("!script\nthe answer")
    commands = ada.page.get_by_role("listbox", name="Commands")
    ada.draft.press_sequentially("/")
    expect(commands.get_by_role("option")).not_to_have_count(0)
    expect(ada.page.get_by_role("option", selected=True)).to_contain_text("/new")
    ada.draft.press("ArrowDown")
    expect(ada.page.get_by_role("option", selected=True)).to_contain_text("/temporary")
    ada.draft.press_sequentially("co")
    expect(commands.get_by_role("option")).to_have_text([re.compile("/copy")])
    ada.allow_clipboard()
    ada.draft.press("Enter")
    expect(ada.page.get_by_text("The answer is copied.")).to_be_visible()
    expect(ada.draft).to_have_value("")
    assert ada.clipboard == "the answer"
    ada.draft.press_sequentially("/")
    ada.draft.press("Escape")
    expect(commands).to_be_hidden()
    expect(ada.draft).to_have_value("/")
    ada.draft.fill("")
    ada.draft.press_sequentially("/h")
    commands.get_by_role("option", name="/help").click()

    expect(ada.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    expect(ada.questions).to_have_count(1)


@pytest.mark.parametrize("kind", ["drop", "paste"])
def test_a_text_file_becomes_part_of_the_message_and_any_other_is_refused(
    ada: Person, kind: str
) -> None:
    ada.draft.fill("Look at this:")
    give_file(ada, kind, "tidy.py", b"def tidy():\n    return 1\n")
    said = "Look at this:\n\ntidy.py\n```py\ndef tidy():\n    return 1\n```\n"
    expect(ada.draft).to_have_value(said)
    give_file(ada, kind, "photo.jpg", b"\xff\xd8\xff\x00\x01")
    expect(ada.page.get_by_text("photo.jpg is not a text file")).to_be_visible()
    give_file(ada, kind, "novel.txt", b"a" * 200_001)
    expect(ada.page.get_by_text("novel.txt is too large")).to_be_visible()
    expect(ada.draft).to_have_value(said)
    ada.button("Send").click()
    ada.wait_for_answer()

    assert ada.stored[0]["content"]["parts"] == [said]
    expect(ada.page.get_by_text("novel.txt is too large")).to_be_hidden()


def test_a_file_can_be_chosen_with_a_button(ada: Person) -> None:
    with ada.page.expect_file_chooser() as chooser:
        ada.button("Add a text file").click()
    chooser.value.set_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": "Grüße ```".encode()}
    )

    expect(ada.draft).to_have_value("notes.txt\n````\nGrüße ```\n````\n")
    expect(ada.draft).to_be_focused()


def test_tab_accepts_a_completion_and_any_other_key_dismisses_it(ada: Person) -> None:
    answer = {"completions": ["Elephants bananas"], "is_enabled": True}
    intercept(ada.page, COMPLETIONS, lambda route: route.fulfill(json=answer))
    grey = ada.page.locator(".grey")
    ada.draft.press_sequentially("elephants like bananas because ")
    expect(grey).to_have_text("Elephants bananas")
    caret = "(area) => [area.selectionStart, area.selectionEnd]"
    assert ada.draft.evaluate(caret) == [31, 31]
    expect(ada.page.get_by_text("Tab accepts: Elephants bananas")).to_be_attached()
    ada.draft.press("Tab")
    expect(ada.draft).to_have_value("elephants like bananas because Elephants bananas")
    expect(ada.draft).to_be_focused()
    ada.draft.press("Control+z")
    expect(ada.draft).to_have_value("elephants like bananas because ")
    ada.draft.fill("")
    ada.draft.press_sequentially("elephants like bananas because ")
    expect(grey).to_be_visible()
    ada.draft.press("Escape")
    expect(grey).to_be_hidden()
    expect(ada.draft).to_be_focused()
    ada.draft.press("Tab")
    expect(ada.draft).not_to_be_focused()
    expect(ada.draft).to_have_value("elephants like bananas because ")
    ada.draft.press_sequentially("x")
    ada.draft.press("Backspace")
    ada.draft.press_sequentially(" ")
    expect(grey).to_be_visible()
    ada.draft.press("ArrowLeft")

    expect(grey).to_be_hidden()


def test_a_late_completion_is_not_shown_after_the_cursor_moved(
    ada: Person,
) -> None:
    intercept(ada.page, COMPLETIONS, lambda _: None)  # Answered late, if ever.
    with ada.page.expect_request(COMPLETIONS):
        ada.draft.fill("elephants like bananas because ")
    with ada.page.expect_event("requestfailed"):
        ada.draft.evaluate("(area) => area.setSelectionRange(0, 0)")
    ada.draft.press("Tab")

    expect(ada.draft).to_have_value("elephants like bananas because ")
    expect(ada.draft).not_to_be_focused()


def test_a_completion_moves_nothing_and_is_not_accepted_unseen(ada: Person) -> None:
    answer = {"completions": ["proposed " * 30], "is_enabled": True}
    intercept(ada.page, COMPLETIONS, lambda route: route.fulfill(json=answer))
    grey = ada.page.locator(".grey")
    low = height(ada.draft)
    ada.draft.press_sequentially("elephants like bananas because ")
    expect(grey).to_be_visible()
    assert height(ada.draft) == low
    ada.draft.fill("")
    ada.draft.press_sequentially("w" * 300)
    low = height(ada.draft)
    answer["completions"] = ["p" * 80]
    for _ in range(80):
        if height(ada.draft) > low:
            break
        ada.page.keyboard.type("w")
    ada.page.keyboard.press("Backspace")
    with ada.page.expect_response(COMPLETIONS):
        ada.page.keyboard.type(" ")
    ada.page.evaluate("new Promise(requestAnimationFrame)")

    expect(grey).to_be_hidden()
    assert height(ada.draft) == low


def test_completions_can_be_turned_off(ada: Person) -> None:
    settings = ada.open_settings("Chat")
    settings.get_by_role("switch", name="Propose how a sentence goes on").click()
    ada.page.keyboard.press("Escape")
    with ada.page.expect_response("**/f/conversation/prepare"):
        ada.draft.press_sequentially("elephants like bananas because ")

    expect(ada.page.locator(".grey")).to_be_hidden()


def sends(person: Person) -> list[Request]:
    """Collects every Send request from now on."""
    seen: list[Request] = []

    def look(request: Request) -> None:
        if request.url.endswith("/f/conversation"):
            seen.append(request)

    person.page.on("request", look)
    return seen


def test_proof_of_work_is_solved_before_a_message_and_only_once(
    server: Server, new_person: Callable[[], Person]
) -> None:
    server.stop()
    server.settings = {"HITSEND_GATE": "always", "HITSEND_GATE_DIFFICULTY": "12"}
    server.start()
    ada = new_person()
    ada.visit()
    ada.create_account("ada")
    posts = sends(ada)
    ada.ask("!script\nfirst")
    ada.ask("!script\nsecond")

    expect(ada.answers.locator(".prose")).to_have_text(["first", "second"])
    statuses = [response.status for post in posts if (response := post.response())]
    assert statuses == [403, 200, 200]
    assert "hitsend-sentinel-token" in posts[-1].headers


def test_the_prewarm_token_is_sent_with_the_message(ada: Person) -> None:
    posts = sends(ada)
    with ada.page.expect_response("**/f/conversation/prepare") as prepared:
        ada.draft.fill("Tell me what was read ahead")
    token = prepared.value.json()["conduit_token"]
    ada.button("Send").click()
    ada.wait_for_answer()

    assert posts[0].headers["x-conduit-token"] == token
    turn = ada.get(f"turn/{ada.stored[-1]['metadata']['turn_exchange_id']}")
    assert "PromptWarmed" in [stamped["event"]["type"] for stamped in turn["events"]]


def test_opening_a_conversation_prewarms_it_once(ada: Person) -> None:
    ada.ask("!script\nhello")
    with ada.page.expect_request("**/f/conversation/prepare") as prepared:
        ada.page.reload()
    assert (prepared.value.post_data_json or {})["messages"] == []
    settings = ada.open_settings("Chat")
    settings.get_by_role("switch", name="Prepare answers while I type").click()
    ada.page.keyboard.press("Escape")
    expect(ada.page).not_to_have_url(re.compile("#settings"))
    asked: list[Request] = []
    ada.page.on("request", lambda request: asked.append(request))
    ada.page.reload()
    ada.answers.wait_for()
    with ada.page.expect_response("**/generate_autocompletions"):
        ada.draft.press_sequentially("nobody reads this before it is sent ")

    assert not [request for request in asked if request.url.endswith("/prepare")]


def test_the_remaining_allowance_is_shown_if_there_are_limits(ada: Person) -> None:
    left = ada.page.get_by_text(re.compile("left this minute|left today"))
    ada.ask("!script\nhello")
    expect(left).to_be_hidden()
    limits = {"requests_per_minute": 3, "tokens_per_minute": None, "tokens_per_day": None}
    ada.post("limits/everyone", limits, "PUT")
    ada.ask("!script\nhello")
    expect(left).to_contain_text(re.compile(r"\d of 3 requests left this minute"))
