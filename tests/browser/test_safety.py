"""Hostile text, in what people say and in what the model answers, while it is still arriving
and after it was stored. The watch in `world.Person` notes what must not happen."""

import pytest
from playwright.sync_api import expect
from tests.browser import payloads
from tests.browser.world import Person

TAMED = """
() => [...document.querySelectorAll('article *')].flatMap((element) => {
    const bad = [...element.attributes].filter(({ name }) => name.startsWith('on'));
    const link = element.getAttribute('href');
    if (link !== null && !/^(https?:|mailto:)/.test(link)) bad.push({ name: link });
    if (link !== null && element.rel !== 'noopener noreferrer') bad.push({ name: 'rel' });
    if (/^(script|img|iframe|object|embed|form|input|style|link|base|meta|video|audio)$/
        .test(element.localName)) bad.push({ name: element.localName });
    return bad.map(({ name }) => `${element.localName}: ${name}`);
})
"""

GROUPS = {
    "scripts": payloads.SCRIPTS,
    "handlers": payloads.HANDLERS,
    "addresses": payloads.ADDRESSES,
    "leaks": payloads.LEAKS,
    "tricks": payloads.TRICKS,
}


@pytest.mark.parametrize("group", GROUPS)
def test_hostile_text_runs_nothing_and_reaches_nobody(ada: Person, group: str) -> None:
    for payload in GROUPS[group]:
        ada.ask(f"!script pace=2ms\n{payload}")
        assert ada.page.evaluate(TAMED) == [], payload
        assert ada.noted == [], payload
    ada.page.reload()
    expect(ada.answers).to_have_count(len(GROUPS[group]))

    assert ada.page.evaluate(TAMED) == []
    said = ada.questions.locator(".said").all_text_contents()
    assert said == [f"!script pace=2ms\n{payload}" for payload in GROUPS[group]]


def test_hostile_titles_are_only_words(ada: Person) -> None:
    for payload in ("<img src=x onerror=pwned()>", "</title><script>pwned()</script>"):
        ada.page.get_by_role("link", name="New chat").click()
        ada.ask(payload)
        expect(ada.conversations.first).to_contain_text(payload[:12])
        expect(ada.page.get_by_role("heading", level=1)).to_contain_text(payload[:12])

    assert ada.noted == []


def test_an_image_from_elsewhere_is_a_link_that_is_not_followed(ada: Person) -> None:
    ada.ask("!script\n![a cat](https://evil.example/cat.png)")
    link = ada.answers.get_by_role("link", name="Image: a cat")

    expect(link).to_have_attribute("href", "https://evil.example/cat.png")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")
    assert ada.noted == []
