"""Hostile and naughty text, wherever text comes in and wherever it is shown.

`world.Person` records scripts that run and requests that leave the origin. Here every element is
also checked when it enters the page, so that partial answers are covered.
"""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from tests.browser.payloads import ALL, HOSTILE
from tests.browser.world import Person
from tests.unit.import_export.sample_exports import conversation, node

from hitsend.canonical import canonicalize

WORST = "<img src=x onerror=pwned()>"

LOOK = """
(() => {
    const never = /^(script|iframe|frame|object|embed|base|meta|link|style|video|audio|source)$/;
    const leads = /^(href|xlink:href|src|action|formaction|poster|background)$/;
    const safe = /^(https?:\\/\\/|mailto:|\\/(?!\\/)|#)/;
    const look = (element) => {
        const { localName: name, attributes } = element;
        const said = element.closest('.prose') !== null;
        const note = (what) => window.caught.push(`in the page: ${name} ${what}`);
        if (never.test(name) || (said && /^(img|image|use|form|input|textarea)$/.test(name)))
            note('itself');
        for (const { name, value } of attributes) {
            if (name.startsWith('on') || name === 'srcdoc') note(name);
            if (leads.test(name) && !safe.test(value)) note(value);
        }
        if (said && element.matches('a') && element.rel !== 'noopener noreferrer') note('rel');
    };
    new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) {
            if (target.closest?.('head') ?? target === document) continue;
            for (const added of [target, ...addedNodes]) {
                if (!(added instanceof Element) || added.matches('html, head, body')) continue;
                look(added);
                if (added !== target) added.querySelectorAll('*').forEach(look);
            }
        }
    }).observe(document, { childList: true, subtree: true, attributes: true });
})()
"""


@pytest.fixture
def wary(new_person: Callable[[], Person]) -> Callable[[str], Person]:
    """A person whose page records every element that enters it."""

    def come(path: str = "/") -> Person:
        person = new_person()
        person.page.add_init_script(LOOK)
        person.visit(path)
        return person

    return come


@pytest.fixture
def user(wary: Callable[[str], Person]) -> Person:
    person = wary("/")
    person.create_account("ada")
    return person


def text_of(message: dict[str, Any]) -> str:
    return "".join(message["content"]["parts"])


def asking(person: Person) -> Callable[..., Any]:
    """Calls the API as the page of this person would."""
    headers = {"x-csrf-token": person.get("me")["csrf_token"]}

    def ask(method: str, path: str, body: object = None) -> Any:
        address = f"{person.url}/backend-api/{path}"
        response = person.page.request.fetch(address, method=method, data=body, headers=headers)
        assert response.ok, response.text()
        return response.json() if response.body() else None

    return ask


def speak_german(person: Person) -> None:
    person.page.evaluate("""localStorage.setItem('hitsend.preferences', '{"language":"de"}')""")
    person.page.reload()


@pytest.mark.parametrize("group", HOSTILE)
def test_an_answer_is_only_text_wherever_it_is_truncated(user: Person, group: str) -> None:
    said = "\n\n".join(HOSTILE[group])
    user.ask(f"!script pace=4ms\n{said}")
    question, answer = user.stored
    asked = canonicalize(f"!script pace=4ms\n{said}")
    assert text_of(question) == asked
    assert text_of(answer) == asked.partition("\n")[2]
    user.page.evaluate("(id) => (location.hash = `message/${id}`)", question["id"])
    speak_german(user)

    shown = user.page.get_by_role("article", name="Du").locator(".text")
    assert shown.text_content() == asked
    assert user.violations == []


def test_an_import_adds_text_and_nothing_else(user: Person, wary: Callable[[str], Person]) -> None:
    """Every payload as a question, an answer, a title, an id and the name of a model."""
    nodes = [
        node(
            f"{number} {payload}",
            f"{number - 1} {ALL[number - 1]}" if number else None,
            ("user", "assistant")[number % 2],
            payload,
            metadata={"model_slug": payload},
        )
        for number, payload in enumerate(ALL)
    ]
    titled = [
        conversation(node("a", None, "user", payload), title=payload, conversation_id=payload)
        for payload in ALL
    ]
    user.post("import", [conversation(*nodes, title="All of it"), *titled])
    pages = [user.get(f"conversations?limit=100&offset={offset}") for offset in (0, 100)]
    listed = [item for page in pages for item in page["items"]]
    whole = next(item["id"] for item in listed if item["title"] == "All of it")
    stored = user.get(f"conversation/{whole}")
    said = [one["message"] for one in stored["mapping"].values() if one["message"]]

    assert sorted(text_of(message) for message in said) == sorted(ALL)
    assert {item["title"] for item in listed} >= {" ".join(text.split())[:200] for text in ALL}
    share = user.post(f"conversation/{whole}/shares", {"current_node": stored["current_node"]})
    reader = wary(share["path"])
    expect(reader.page.get_by_role("region", name="Messages")).to_have_attribute(
        "aria-busy", "false"
    )
    questions = reader.page.get_by_role("article", name="Question")
    assert questions.locator("p").all_text_contents() == ALL[::2]
    speak_german(user)
    user.page.get_by_label("Gespräche durchsuchen").fill("pwned")
    expect(user.page.get_by_role("navigation").locator("mark").first).to_be_visible()
    user.page.keyboard.press("Control+k")
    user.page.get_by_role("combobox").fill("onerror")
    expect(user.page.get_by_role("dialog").locator("mark").first).to_be_visible()


def test_names_titles_labels_and_feedback_are_only_text(
    user: Person, wary: Callable[[str], Person]
) -> None:
    page, ask = user.page, asking(user)
    user.ask("Hello")
    about = f"conversation/{page.url.rsplit('/', 1)[1]}"
    answer_id = user.stored[-1]["id"]
    opinions = f"{about}/messages/{answer_id}/feedback"
    for title, words, folder, label in zip(*(ALL[i::4] for i in range(4)), strict=False):
        opinion = {"rating": "down", "reason": "other", "text": words[:2_000]}
        ask("PATCH", about, {"title": title[:200]})
        ask("PUT", opinions, opinion)
        kept = ask("GET", about)
        assert kept["title"] == title[:200]
        assert kept["mapping"][answer_id]["message"]["metadata"]["feedback"] == opinion
        assert ask("POST", "folders", {"name": folder[:80]})["name"] == folder[:80]
        assert ask("POST", "keys", {"label": label[:100]})["label"] == label[:100]

    ask("PATCH", about, {"title": WORST})
    ask("POST", f"{about}/shares", {"current_node": answer_id})
    ask("POST", "keys", {"label": WORST})
    guest = wary(ask("POST", "invites", {})["path"])
    guest.create_account(WORST)
    expect(guest.button(f"{WORST}: settings and more")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name=WORST)).to_be_visible()
    speak_german(user)
    for section in ("keys", "shares", "people", "invites"):
        page.evaluate("(section) => (location.hash = `settings/${section}`)", section)
        expect(page.get_by_role("dialog").get_by_text(WORST).first).to_be_visible()


def test_a_search_query_is_only_text(user: Person) -> None:
    ask = asking(user)
    user.ask("Hello")
    for payload in ALL:
        assert ask("GET", f"conversations?q={quote(payload[:200])}")["total"] >= 0
    field = user.page.get_by_label("Search conversations")
    for payload in (WORST, *(group[-1] for group in HOSTILE.values())):
        field.fill(payload)
        expect(user.page.get_by_text(f"Nothing found for “{payload[:200]}”.")).to_be_visible()


def test_a_file_name_is_only_text(user: Person) -> None:
    user.visit("/#settings/data")
    place = user.page.get_by_role("region", name="Import")
    for name in (f"{WORST}.json", f"{WORST}.zip", f"{WORST}.exe"):
        place.get_by_label("Choose a file").set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": b"[{"}
        )
        expect(place.get_by_role("alert").filter(has_text=re.compile(r"\w"))).to_be_visible()
