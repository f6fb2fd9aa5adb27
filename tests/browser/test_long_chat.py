"""A conversation of 2,000 turns opens as fast and scrolls as smoothly as a short one."""

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.browser.world import Person

NUM_TURNS = 2_000
MAX_ROWS = 60


def message(number: int, role: str, text: str) -> dict[str, Any]:
    return {
        "id": f"{role}-{number}",
        "author": {"role": role},
        "create_time": 1_700_000_000 + number,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "metadata": {},
    }


def long_conversation() -> dict[str, Any]:
    """A conversation in the export format of ChatGPT."""
    said = [
        message(number, role, f"{what} number {number}. " + "And so on. " * (number % 40))
        for number in range(NUM_TURNS)
        for role, what in (("user", "Question"), ("assistant", "Answer"))
    ]
    ids = ["root", *(one["id"] for one in said)]
    mapping: dict[str, Any] = {
        one["id"]: {
            "id": one["id"],
            "message": one,
            "parent": ids[i],
            "children": ids[i + 2 : i + 3],
        }
        for i, one in enumerate(said)
    }
    mapping["root"] = {"id": "root", "message": None, "parent": None, "children": ids[1:2]}
    return {
        "title": "A long story",
        "create_time": 1_700_000_000,
        "update_time": 1_700_000_000 + NUM_TURNS,
        "mapping": mapping,
        "current_node": ids[-1],
        "conversation_id": "long",
    }


@pytest.fixture
def reader(ada: Person) -> Person:
    """A person with a long conversation open."""
    report = ada.post("import", [long_conversation()])
    assert report["num_messages"] == 2 * NUM_TURNS
    ada.page.reload()
    ada.page.get_by_role("link", name="A long story").click()
    ada.answers.last.wait_for()
    return ada


def test_a_long_chat_opens_at_its_end_and_draws_only_nearby_rows(ada: Person) -> None:
    ada.post("import", [long_conversation()])
    ada.page.reload()
    ada.page.get_by_role("link", name="A long story").click()
    expect(ada.answers.get_by_text(f"Answer number {NUM_TURNS - 1}.")).to_be_in_viewport()
    rows = ada.messages.get_by_role("article")
    assert rows.count() < MAX_ROWS
    expect(ada.answers.last).to_have_attribute("aria-setsize", str(2 * NUM_TURNS))
    expect(ada.answers.last).to_have_attribute("aria-posinset", str(2 * NUM_TURNS))
    ada.ask("!script\nand it goes on")

    expect(ada.answers.last.locator(".prose")).to_have_text("and it goes on")
    expect(ada.answers.last).to_be_in_viewport()
    assert rows.count() < MAX_ROWS


def test_the_keyboard_reaches_its_beginning_and_its_end(reader: Person) -> None:
    reader.messages.focus()
    reader.page.keyboard.press("ControlOrMeta+Home")
    expect(reader.questions.get_by_text("Question number 0.")).to_be_in_viewport()
    assert reader.messages.get_by_role("article").count() < MAX_ROWS
    reader.page.keyboard.press("ControlOrMeta+End")
    expect(reader.answers.get_by_text(f"Answer number {NUM_TURNS - 1}.")).to_be_in_viewport()
    reader.page.keyboard.press("ControlOrMeta+Home")
    expect(reader.questions.get_by_text("Question number 0.")).to_be_in_viewport()
    reader.button("To the newest").click()

    expect(reader.answers.get_by_text(f"Answer number {NUM_TURNS - 1}.")).to_be_in_viewport()
    expect(reader.button("To the newest")).to_have_count(0)


def test_an_address_leads_to_a_message_in_the_middle(reader: Person) -> None:
    stored = next(
        one for one in reader.stored if one["content"]["parts"][0].startswith("Answer number 1234.")
    )
    reader.visit(f"{reader.page.url.removeprefix(reader.url)}#message/{stored['id']}")
    wanted = reader.answers.filter(has_text="Answer number 1234.")
    expect(wanted).to_be_in_viewport()

    expect(wanted).to_be_focused()
    expect(wanted).to_have_attribute("aria-posinset", str(2 * 1234 + 2))
    assert reader.messages.get_by_role("article").count() < MAX_ROWS


def test_scrolling_up_does_not_jump(reader: Person) -> None:
    """Visible rows move only as far as the wheel scrolls, while rows above are drawn."""
    reader.messages.hover()
    reader.page.evaluate("""
        () => {
            const scroller = document.querySelector('main section');
            const tops = new Map();
            let before = scroller.scrollTop;
            window.jumps = [];
            const look = () => {
                const rows = [...scroller.querySelectorAll('article')];
                const now = new Map(rows.map((row) =>
                    [row.ariaPosInSet, row.getBoundingClientRect().top]));
                const moves = [...now].filter(([at]) => tops.has(at))
                    .map(([at, top]) => Math.round(top - tops.get(at)));
                if (moves.some((move) => move < -2)) window.jumps.push(Math.min(...moves));
                tops.clear();
                for (const [at, top] of now) {
                    if (top > -200 && top < innerHeight) tops.set(at, top);
                }
                requestAnimationFrame(look);
            };
            look();
        }
    """)
    for _ in range(30):
        reader.page.mouse.wheel(0, -600)
    expect(reader.button("To the newest")).to_be_visible()
    expect(reader.answers.last).to_be_attached()

    assert reader.page.evaluate("window.jumps") == []
    assert reader.messages.get_by_role("article").count() < MAX_ROWS
