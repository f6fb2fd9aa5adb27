"""How messages look, and their actions."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, expect
from tests.browser.world import Person, Server, intercept

WORDS = " ".join(f"word{number}" for number in range(120))
CODE = "def area(r: float) -> float:\n\tif r < 0:\n\n\t    return  0.0\n\treturn 3.14 * r**2"
KINDS = f"""# Heading one

### Heading three

A paragraph with **bold**, *slanted*, ~~gone~~ and `code`.

1. first
2. second
   - inner

> quoted

| left | right |
|:---|---:|
| a | **1** |

```python
{CODE}
```

$$
e^{{i\\pi}} + 1 = 0
$$

With $a^2$ in the line, [a name](https://docs.example.org/page?q=1) and
![a picture](https://pictures.example.org/cat.png).

---

- [x] done

<script>pwned()</script>"""
"""Every supported kind of Markdown."""

WATCH_TOPS = """
() => {
    const first = new Map();
    let prose = null;
    window.jumps = [];
    const look = () => {
        prose ??= document.querySelector('[aria-busy="true"] .prose');
        const origin = prose?.getBoundingClientRect().top ?? 0;
        [...(prose?.children ?? [])].forEach((block, i) => {
            const top = Math.round(block.getBoundingClientRect().top - origin);
            if (!first.has(i)) first.set(i, top);
            else if (Math.abs(first.get(i) - top) > 1) {
                window.jumps.push(`${i} ${block.tagName}: ${first.get(i)} to ${top}`);
                first.set(i, top);
            }
        });
        requestAnimationFrame(look);
    };
    look();
}
"""
VOICE = """
window.said = [];
Object.defineProperty(window, 'speechSynthesis', {
    value: {
        speak: (utterance) => window.said.push(utterance.text),
        cancel: () => window.said.push('(silence)'),
    },
});
"""
FEEDBACK = "**/backend-api/conversation/*/messages/*/feedback"
NO_WORKER = "delete Navigator.prototype.serviceWorker;"
"""Bypasses the cache, so that the page requests each of its files."""
NO_VOICE = "Object.defineProperty(window, 'speechSynthesis', { value: undefined });"


def usage_of(answer: Locator) -> str:
    return answer.get_by_text(re.compile("first word after")).inner_text()


def started(person: Person) -> dict[str, object]:
    """The TurnStarted event of the newest answer."""
    turn_id = person.stored[-1]["metadata"]["turn_exchange_id"]
    event: dict[str, object] = person.get(f"turn/{turn_id}")["events"][0]["event"]
    return event


def test_every_kind_of_markdown_is_drawn(ada: Person) -> None:
    ada.ask(f"!script\n{KINDS}")
    answer = ada.answers.last

    expect(answer.get_by_role("heading", level=1)).to_have_text("Heading one")
    expect(answer.get_by_role("heading", level=3)).to_have_text("Heading three")
    expect(answer.get_by_role("strong").first).to_have_text("bold")
    expect(answer.get_by_role("emphasis")).to_have_text("slanted")
    expect(answer.get_by_role("deletion")).to_have_text("gone")
    expect(answer.get_by_role("list").first.get_by_role("listitem").last).to_have_text("inner")
    expect(answer.get_by_role("blockquote")).to_have_text("quoted")
    expect(answer.get_by_role("table").get_by_role("columnheader")).to_have_text(["left", "right"])
    expect(answer.get_by_role("table").get_by_role("cell")).to_have_text(["a", "1"])
    code = answer.get_by_role("figure", name="Code in python").get_by_role("code")
    expect(code).to_have_text(CODE)
    keyword = code.get_by_text("def", exact=True)
    expect(keyword).to_have_class(re.compile("keyword"))
    expect(answer.locator(".formula").locator("math")).to_have_count(1)
    expect(answer.get_by_text("With a").locator("math")).to_have_count(1)
    expect(answer.get_by_role("separator")).to_have_count(1)
    expect(answer.get_by_text("☑ done")).to_be_visible()
    expect(answer.get_by_text("<script>pwned()</script>")).to_be_visible()


def test_a_link_shows_its_host_and_an_image_is_a_link(ada: Person) -> None:
    ada.ask(f"!script\n{KINDS}")
    link = ada.answers.get_by_role("link", name="a name")
    picture = ada.answers.get_by_text("Image, not loaded:")

    expect(link).to_contain_text("docs.example.org")
    expect(link).to_have_attribute("href", "https://docs.example.org/page?q=1")
    expect(link).to_have_attribute("rel", re.compile("noopener noreferrer"))
    expect(picture.get_by_role("link")).to_contain_text("pictures.example.org")
    expect(ada.answers.get_by_role("img")).to_have_count(0)


def test_code_and_answers_are_copied_unchanged(ada: Person) -> None:
    ada.allow_clipboard()
    ada.ask(f"!script\n{KINDS}")
    # Formulas are drawn late, and would move the button away between press and release.
    expect(ada.answers.locator("math")).to_have_count(2)
    ada.record_announcements("article [role=status]", "Copied")
    ada.answers.get_by_role("button", name="Copy code").click()
    ada.expect_copied(CODE)
    ada.answers.get_by_role("button", name="Copy answer").click()
    ada.expect_copied(KINDS)

    assert ada.announced == ["Copied"]


def test_text_does_not_move_while_blocks_begin_and_end(ada: Person) -> None:
    ada.ask("!script\nSo that formulas can be drawn: $x$")
    expect(ada.answers.locator("math")).to_have_count(1)
    ada.page.evaluate(WATCH_TOPS)
    ada.say(f"!script pace=6ms\n{KINDS}\n\n{KINDS}")
    ada.wait_for_answer()
    expect(ada.answers.locator("math")).to_have_count(4)

    assert ada.page.evaluate("window.jumps") == []


def test_text_stays_readable_if_formulas_and_highlighting_fail_to_load(
    new_person: Callable[[], Person],
) -> None:
    ada = new_person()
    ada.page.add_init_script(NO_WORKER)
    ada.visit()
    ada.create_account("ada")
    intercept(ada.page, re.compile("/assets/(katex|languages)"), lambda route: route.abort())
    ada.ask("!script\n$$e=mc^2$$\n\n```python\nimport this\n```")
    formula = ada.answers.locator(".formula")
    expect(formula).to_have_text("e=mc^2")
    code = ada.answers.get_by_role("figure", name="Code in python").get_by_role("code")
    expect(code).to_have_text("import this")
    ada.page.unroute_all()
    ada.page.reload()

    expect(formula.locator("math")).to_have_count(1)


def test_a_message_is_edited_in_place_or_left_unchanged(ada: Person) -> None:
    ada.ask("!script\n  first answer")
    ada.questions.hover()
    ada.button("Edit message").click()
    field = ada.page.get_by_role("textbox", name="Edit message")
    expect(field).to_be_focused()
    expect(field).to_have_value("!script\n  first answer")
    field.fill("never mind")
    field.press("Escape")
    expect(ada.questions).to_contain_text("first answer")
    ada.questions.hover()
    ada.button("Edit message").click()
    field.fill("!script\nsecond answer")
    ada.questions.get_by_role("button", name="Send").click()
    expect(ada.answers.locator(".prose")).to_have_text("second answer")
    ada.wait_for_answer()

    expect(ada.questions.get_by_text("Version 2 of 2")).to_have_count(1)
    expect(ada.button("Next version")).to_be_disabled()
    ada.button("Previous version").click()
    expect(ada.answers.locator(".prose")).to_have_text("first answer")
    expect(ada.button("Previous version")).to_be_disabled()


def test_an_answer_is_repeated_with_another_preset_and_model(ada: Person) -> None:
    ada.post("models/scripted-small/pull", {})
    ada.page.reload()
    ada.ask("!script\nhello")
    assert started(ada)["model"] == "scripted"
    ada.choose("Other ways to answer", "Inventive")
    expect(ada.answers.get_by_text("Version 2 of 2")).to_have_count(1)
    ada.wait_for_answer()
    sampling = started(ada)["sampling"]
    assert isinstance(sampling, dict)
    assert (sampling["temperature"], sampling["top_p"]) == (1.1, 0.98)
    expect(ada.page.get_by_role("progressbar")).to_have_count(0)
    ada.choose("Other ways to answer", "Scripted small")
    expect(ada.answers.get_by_text("Version 3 of 3")).to_have_count(1)
    ada.wait_for_answer()

    assert started(ada)["model"] == "scripted-small"
    expect(ada.questions).to_have_count(1)


def test_a_stopped_answer_continues_from_its_last_word(ada: Person) -> None:
    begun = " ".join(WORDS.split()[:20])
    ada.say(f"!script hang=20\n{WORDS}")
    expect(ada.answers.locator(".prose")).to_have_text(begun)
    ada.stop.click()
    expect(ada.page.get_by_text("You stopped this answer.")).to_be_visible()
    ada.button("Continue").click()
    expect(ada.answers.locator(".prose")).to_have_text(WORDS)
    ada.wait_for_answer()

    assert [one["content"]["parts"][0] for one in ada.stored[1:]] == [
        begun,
        WORDS.removeprefix(begun),
    ]
    expect(ada.answers).to_have_count(1)
    expect(ada.button("Continue")).to_have_count(0)
    ada.page.reload()
    expect(ada.answers.locator(".prose")).to_have_text(WORDS)
    expect(ada.answers).to_have_count(1)


def test_an_answer_cut_by_its_length_can_be_continued_repeatedly(
    ada: Person, server: Server
) -> None:
    server.stop()
    server.settings["HITSEND_MAX_ANSWER_TOKENS"] = "50"
    server.start()
    ada.ask(f"!script\n{WORDS}")
    for _ in range(2):
        expect(ada.page.get_by_text("reached the longest length allowed")).to_be_visible()
        ada.button("Continue").click()
        ada.wait_for_answer()

    expect(ada.answers.locator(".prose")).to_have_text(WORDS)
    expect(ada.page.get_by_text("reached the longest length allowed")).to_have_count(0)


def test_an_answer_is_read_aloud_without_markup_until_stopped(ada: Person) -> None:
    ada.page.add_init_script(VOICE)
    ada.page.reload()
    ada.ask("!script\n## Sum\n\nIt is **four**.\n\n```\n2 + 2\n```")
    ada.choose("More", "Read aloud")
    expect(ada.button("Stop reading")).to_be_visible()
    spoken = [text for text in ada.page.evaluate("said") if text != "(silence)"]
    assert spoken == ["Sum", "It is four."]
    ada.button("Stop reading").click()

    expect(ada.button("Stop reading")).to_have_count(0)
    assert ada.page.evaluate("said.at(-1)") == "(silence)"


def test_reading_aloud_is_not_offered_without_speech_synthesis(ada: Person) -> None:
    ada.page.add_init_script(NO_VOICE)
    ada.page.reload()
    ada.ask("!script\nhello")
    ada.page.get_by_role("button", name="More", exact=True).click()

    expect(ada.page.get_by_role("menuitem", name="Share…")).to_be_visible()
    expect(ada.page.get_by_role("menuitem", name="Read aloud")).to_have_count(0)


def test_a_rating_is_kept_until_it_is_withdrawn(ada: Person) -> None:
    ada.ask("!script\nThe earth is flat.")
    ada.button("Bad answer").click()
    dialog = ada.page.get_by_role("dialog", name="What was wrong with it?")
    dialog.get_by_role("radio", name="It is not true").check()
    dialog.get_by_role("textbox").fill("It is round.")
    with ada.page.expect_response(FEEDBACK):
        dialog.get_by_role("button", name="Send feedback").click()
    expect(dialog).to_be_hidden()
    ada.page.reload()
    bad = ada.page.get_by_role("button", name="Bad answer", pressed=True)
    expect(bad).to_be_visible()
    given = ada.stored[-1]["metadata"]["feedback"]
    assert given == {"rating": "down", "reason": "wrong", "text": "It is round."}
    with ada.page.expect_response(FEEDBACK):
        ada.button("Good answer").click()
    good = ada.page.get_by_role("button", name="Good answer", pressed=True)
    expect(good).to_be_visible()
    expect(bad).to_have_count(0)
    ada.page.reload()
    with ada.page.expect_response(FEEDBACK):
        good.click()
    expect(ada.page.get_by_role("button", name="Good answer", pressed=False)).to_be_visible()
    ada.page.reload()

    expect(ada.page.get_by_role("button", name="Good answer", pressed=False)).to_be_visible()
    assert "feedback" not in ada.stored[-1]["metadata"]


def test_a_share_shows_the_conversation_so_far_until_revoked(
    ada: Person, new_person: Callable[[], Person]
) -> None:
    ada.ask("!script\nFor **everyone**.")
    ada.choose("More", "Share…")
    dialog = ada.page.get_by_role("dialog", name="Share this conversation")
    expect(dialog).to_contain_text("Anyone who has the link can read it")
    dialog.get_by_role("button", name="Make a link").click()
    link = dialog.get_by_label("Link", exact=True)
    expect(link).to_be_focused()
    address = link.input_value()
    ada.allow_clipboard()
    dialog.get_by_role("button", name="Copy link").click()
    ada.expect_copied(address)
    ada.page.keyboard.press("Escape")
    ada.ask("!script\nFor us alone.")

    stranger = new_person()
    stranger.page.goto(address)
    expect(stranger.page.get_by_role("article", name="Answer")).to_contain_text("For everyone.")
    expect(stranger.page.get_by_text("For us alone.")).to_have_count(0)
    expect(stranger.page.get_by_text("ada", exact=True)).to_have_count(0)

    ada.page.get_by_role("button", name="More", exact=True).first.click()
    ada.page.get_by_role("menuitem", name="Share…").click()
    dialog.get_by_role("button", name="Make a link").click()
    expect(link).to_have_value(address)
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog.get_by_text("The link no longer works.")).to_be_visible()
    stranger.page.reload()
    expect(stranger.page.get_by_role("heading", name="There is nothing here")).to_be_visible()


def test_the_cost_of_an_answer_is_the_same_after_a_reload(ada: Person) -> None:
    ada.ask("!script tokens=40 pace=2ms first=20ms\nword ")
    ada.ask("!script tokens=40 pace=2ms\nword ")
    now = [usage_of(answer) for answer in ada.answers.all()]
    ada.page.reload()
    expect(ada.answers).to_have_count(2)

    assert [usage_of(answer) for answer in ada.answers.all()] == now
    assert re.search(
        r"40 tokens · [\d,.]+ tokens/s · first word after [\d.]+\sm?s · .*prompt", now[0]
    )
    assert re.search(r"\d+ of \d+ prompt tokens cached", now[1])
    expect(ada.answers.last.get_by_role("time")).to_have_attribute("title", re.compile(r"20\d\d"))
