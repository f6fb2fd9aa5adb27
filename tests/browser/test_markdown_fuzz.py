"""Deep, long and broken Markdown is drawn in bounded time, and never keeps a page from opening."""

import logging
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from tests.browser.test_shared import share
from tests.browser.test_styles_page import dev_server
from tests.browser.world import Person, intercept

__all__ = ["dev_server"]

log = logging.getLogger(__name__)

NUM_DOCUMENTS = 20_000
NUM_PER_BATCH = 1_000
OPTIONS = {"maxUnsettled": 120, "numPerDrawn": 4}
SOAK_OPTIONS = {"maxUnsettled": 500, "numPerDrawn": 1}
"""The longest documents are one block of up to 200,000 characters: streamed at every split, which
parses the block again each time, they would take days. So the work is bounded."""
MIN_STREAMED_WHOLE = 0.85
"""Of the documents: streamed at every split. It is nine of ten, and a third of all splits."""
LIMIT_MS = 15_000
"""Per document. A document of 200,000 characters takes about a second on an idle machine."""
BATCH_LIMIT_MS = 150_000
SEED = int(os.environ.get("HITSEND_FUZZ_SEED", "12"))
"""The documents are the same in every run, unless another seed is asked for."""
NUM_PAGES = 2
"""Each has a process of its own."""
START = """
([seed, first, count, options]) => {
    window.fuzzed = null;
    void import('/src/markdown/fuzz/runFuzz.ts')
        .then(({ runFuzz }) => runFuzz(seed, first, first + count, options))
        .then((report) => (window.fuzzed = report));
}
"""

DEEP = {
    "maths": [
        "$$" + r"\frac{1}{" * 150 + "1" + "}" * 150 + "$$",
        "so $" + r"\frac{1}{" * 150 + "1" + "}" * 150 + "$",
        "$$" + r"\frac{1}{" * 150 + "$$",
    ],
    "blocks": [">" * 200 + " deep", "> " * 200 + "deep", "- " * 200 + "deep"],
    "inline": ["**a " * 150 + " b**" * 150, "*" * 400 + "a" + "*" * 400, "[" * 400, "<b>" * 200],
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_deep_answer_can_be_opened_and_shared(
    ada: Person, new_person: Callable[[], Person], kind: str
) -> None:
    ada.ask("\n\n".join([f"!script\n{DEEP[kind][0]}", *DEEP[kind][1:], "The *end*."]))
    expect(ada.answers.locator("em").last).to_have_text("end")
    ada.page.reload()
    expect(ada.answers.locator("em").last).to_have_text("end")
    stranger = new_person()
    stranger.visit(share(ada)["path"])
    answer = stranger.page.get_by_role("article", name="Answer")

    expect(answer.locator("em").last).to_have_text("end")


def test_a_message_that_cannot_be_drawn_shows_its_text(ada: Person) -> None:
    """Whatever else is in a message, such as notes of a newer server, its conversation opens."""
    ada.ask("!script\nThe first answer.")
    ada.ask("!script\nThe second answer.")
    address, ids = ada.page.url, [one["id"] for one in ada.stored]

    def break_first_answer(route: Route) -> None:
        found = route.fetch().json()
        found["mapping"][ids[1]]["message"]["metadata"]["seen"] = {"memories": 7}
        route.fulfill(json=found)

    ada.visit("/styles")
    intercept(ada.page, "**/backend-api/conversation/*", break_first_answer)
    ada.page.goto(address)
    expect(ada.messages).to_contain_text("The second answer.")
    expect(ada.messages).to_contain_text("The first answer.")
    expect(ada.draft).to_be_editable()
    assert ada.take_errors(), "it could be drawn: break it in another way"


@pytest.mark.timeout(900)  # two minutes on an idle machine
def test_generated_documents_are_drawn_in_time(
    dev_server: str, new_person: Callable[[], Person]
) -> None:
    fuzz(dev_server, new_person, OPTIONS, BATCH_LIMIT_MS)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_every_generated_document_is_streamed_at_every_split_and_drawn(
    dev_server: str, new_person: Callable[[], Person]
) -> None:
    fuzz(dev_server, new_person, SOAK_OPTIONS, 10 * BATCH_LIMIT_MS)


def fuzz(
    dev_server: str,
    new_person: Callable[[], Person],
    options: dict[str, int],
    batch_limit_ms: int,
) -> None:
    options = options | {"limitMs": LIMIT_MS}
    people = [new_person() for _ in range(NUM_PAGES)]
    for person in people:
        person.url = dev_server
        person.visit("/styles")
    total = Counter[str]()
    for first in range(0, NUM_DOCUMENTS, NUM_PAGES * NUM_PER_BATCH):
        for i, person in enumerate(people):
            person.page.evaluate(START, [SEED, first + i * NUM_PER_BATCH, NUM_PER_BATCH, options])
        for person in people:
            batch = f"seed {SEED}, documents from {first}"
            report = wait_for_report(person, batch, batch_limit_ms)
            assert report.pop("slow") == []
            total.update(report)
    log.warning("%s", dict(total))
    assert total["numStreamedWhole"] >= MIN_STREAMED_WHOLE * total["numDocuments"]


def wait_for_report(person: Person, batch: str, limit_ms: int) -> dict[str, Any]:
    """Waits for a batch. `runFuzz.ts` says what is in its report."""
    try:
        person.page.wait_for_function("window.fuzzed", timeout=limit_ms)
    except PlaywrightTimeout:
        pytest.fail(f"The page hangs: {batch}")
    assert person.violations == [], batch
    report: dict[str, Any] = person.page.evaluate("window.fuzzed")
    return report
