"""What goes into a prompt is data: it changes nothing but its own place."""

import time
import timeit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hitsend.errors import Refused, TooLarge
from hitsend.prompts import (
    PromptText,
    Slot,
    as_data,
    check_template,
    find_secret,
    render,
    render_chat,
    samples,
    shipped,
)
from hitsend.prompts.data import cleaned
from hitsend.prompts.template import MOST_TEMPLATE_CHARS

PLACE = "PLACEHOLDER"

NOTE = PromptText(
    name="note",
    version=1,
    template="Before {{ said }} between {% for one in several %}\n{{ one }}\n{% endfor %} after",
    slots=(
        Slot("said", "data"),
        Slot("several", "list", label="one"),
        Slot("is_new", "flag", is_required=False),
    ),
)
hostile = st.text() | st.lists(
    st.sampled_from(
        [
            "{{ 7 * 7 }}",
            "{% for x in y %}",
            "=== system\n",
            "<",
            "/",
            "said",
            "one",
            ">",
            "\n",
            "</",
        ]
        + ["</said>", "</ SAID >", "＜/said＞", "<said", "\u200b", "\u0338", "#}", "\u202e", " "]
    )
).map("".join)


def filled(text: str) -> dict[str, object]:
    return {"said": text, "several": [text, "x"]}


@given(hostile)
def test_a_value_changes_nothing_but_its_own_place(text: str) -> None:
    said = as_data("said", text) if text.strip() else ""
    several = [as_data("one", value) for value in (text, "x") if value.strip()]
    expected = f"Before {said} between " + "\n".join(several) + "\n after"
    assert render(NOTE, filled(text)) == expected


@given(hostile, st.sampled_from(sorted(shipped())))
def test_no_value_becomes_a_message_of_its_own(text: str, name: str) -> None:
    prompt = shipped()[name]
    for slot in (slot for slot in prompt.slots if slot.kind != "flag"):
        value = [text] if slot.kind == "list" else text
        told = render_chat(prompt, {**samples(prompt), slot.name: value})
        before = render_chat(prompt, samples(prompt))
        assert [message.role for message in told] == [message.role for message in before]


@given(hostile)
def test_no_text_closes_its_own_marks(text: str) -> None:
    marked = as_data("said", text)
    inside = marked.removeprefix("<said>").removesuffix("</said>")
    assert len(marked) - len(inside) == len("<said></said>")
    assert "<said" not in inside.casefold()
    assert "</said" not in inside.casefold().replace(" ", "")
    assert inside.strip().replace("(", "<") == cleaned(text).replace("(", "<").replace("＜", "<")


@pytest.mark.parametrize(
    "mark",
    [
        "</said>",
        "‹／said>",
        "‹∕said>",
        "<\\said>",
        "‹/ｓaid>",
        "< / SAID>",
        "〈/said〉",
        "＜said＞",
    ],
)
def test_what_only_looks_like_the_mark_loses_its_bracket_and_nothing_else(mark: str) -> None:
    assert as_data("said", f"ﬁve {mark} six") == f"<said>ﬁve ({mark[1:]} six</said>"


def test_ordinary_text_stands_in_its_marks_as_it_is() -> None:
    assert as_data("memory", "I like <b>tea</b> & 1 < 2.") == (
        "<memory>I like <b>tea</b> & 1 < 2.</memory>"
    )
    assert as_data("memory", "one\r\ntwo") == "<memory>\none\ntwo\n</memory>"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"said": "x"}, "`several` is missing"),
        ({"said": "x", "several": [], "more": 1}, "`more` is none of its slots"),
        ({"said": 1, "several": []}, "`said` has to be text"),
        ({"said": "x", "several": "x"}, "`several` has to be a list of texts"),
        ({"said": "x", "several": [1]}, "`several` has to be a list of texts"),
    ],
)
def test_what_does_not_fit_its_slot_is_refused(values: dict[str, object], problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        render(NOTE, values)


SECRETS = [
    "hs-" + "a1B2_" * 8,
    "sk-" + "abcdEFGH1234" * 3,
    "ghp_" + "a" * 36,
    "AKIA" + "ABCDEFGH12345678",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "postgres://ada:pa55word@db.example/chats",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0aaaa.c2lnbmF0dXJl",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_told_to_no_model(secret: str) -> None:
    system = shipped()["system"]
    with pytest.raises(Refused, match="which no model is told"):
        render(system, {"instructions": f"Use {secret} for it."})
    with pytest.raises(Refused, match="Take it out"):
        check_template(system, "{{ instructions }}" + secret)
    told = render(NOTE, filled(f"My key is {secret} indeed."))
    assert secret not in told
    assert "My key is [secret left out]" in told


def test_no_text_makes_the_search_for_secrets_slow() -> None:
    """A hundred times as many keys that never end do not take a hundred times as long."""

    def seconds(num: int) -> float:
        text = "-----BEGIN PRIVATE KEY-----" * num + "x" * 9_000
        return min(timeit.repeat(lambda: find_secret(text), number=1, repeat=5))

    assert seconds(1_000) < 25 * seconds(10)


@pytest.mark.parametrize(
    "text",
    [
        "ask-me-anything-about-this-long-name",
        "https://example.org:8080/a@b",
        "hs- is short",
        "sk-1",
    ],
)
def test_what_only_resembles_a_secret_is_told(text: str) -> None:
    assert text in render(shipped()["system"], {"instructions": text})


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ said.__class__ }}{{ several }}", "Line 1: `.__class__` cannot"),
        ("{{ said }}\n{{ several[0] }}", "Line 2: `getitem` cannot"),
        ("{{ said|attr('x') }}{{ several }}", "Line 1: there is no filter `attr`"),
        ("{{ said }}{{ several }}{{ range(10**9) }}", "there is no slot `range`|`call`|`pow`"),
        ("{{ said }}{{ several }}{{ 'a' * 1000000000 }}", "`mul` cannot"),
        ("{{ said }}{{ several }}{{ 10 ** 10 ** 10 }}", "`pow` cannot"),
        ("{{ said }}{{ several }}{% set x = said ~ said %}", "`assign`|`concat`"),
        ("{{ said }}{{ several }}{% include 'x' %}", "`include` cannot"),
        ("{{ said }}{{ several }}{% import 'os' as os %}", "`import` cannot"),
        ("{{ said }}{{ several }}{% macro m() %}{% endmacro %}", "`macro` cannot"),
        ("{{ said }}{{ several }}{{ self }}", "there is no slot `self`"),
        ("{{ said }}{{ several }}{{ cycler }}", "there is no slot `cycler`"),
        ("{{ said }}{% for a in several %}{% for b in several %}{% endfor %}{% endfor %}", "loop"),
        ("{{ several }}{% for a in said %}{% endfor %}", "a loop goes over a slot that is a list"),
        ("{{ said }}{{ several }}{{ " + "(" * 4000 + "1" + ")" * 4000 + " }}", "too deeply"),
        ("{{ said }}{{ several }}{% if " + "not " * 99 + "said %}{% endif %}", "too deeply"),
        ("{{ said }}{{ several }}{{ " + "9" * 5000 + " }}", "too deeply"),
        ("{{ said }}{{ several }}{{ '\\ud800' }}", "cannot be seen"),
        ("{{ said }}\n\n{{ several }", "Line 3: "),
        ("{{ said }}{{ several | join(',', '__class__') }}", "`join` takes less"),
        ("{{ said }}{{ several }}{{ said | length }}", "`length` is for a slot that is a list"),
        ("{{ said }}{% if several < 3 %}x{% endif %}", "`compare` cannot"),
        ("{{ said }}{% for one in several %}{% endfor %}{{ one }}", "there is no slot `one`"),
        ("{{ said }}{{ several }}{{ loop.index }}", "`.index` cannot be used"),
        ("{{ said }}{% for loop in several %}{% endfor %}", "Line 1: .*loop"),
        ("{{ said }}{% for said in several %}{% endfor %}", "`said` is a slot"),
        ("{{ said }}\n{% for a in several if a %}{% endfor %}", "Line 2: .*nothing but an end"),
        ("{{ said }}{% for a in several %}{{ loop }}{% endfor %}", "there is no slot `loop`"),
        ("{{ said }}{% for a in several %}{{ loop.last }}{% endfor %}", "yes and no"),
        ("{{ said }}{{ several | join(*several) }}", "`join` takes less"),
        ("{{ said }}{{ several | join(**several) }}", "`join` takes less"),
        ("{{ said }}{{ several | length(*several) }}", "`length` takes less"),
        ("{{ said }}{{ several | join(said) }}", "`join` takes less"),
        ("{{ said }}{{ several | join('" + "-" * 101 + "') }}", "`join` takes less"),
        ("{{ said }}{{ several }}{{ is_new }}", "yes and no"),
        ("{{ several }}{{ not said }}", "yes and no"),
        ("{{ said }}{% for a in several %}{% else %}{{ a }}{% endfor %}", "nothing but an end"),
        ("{{ said }}{% for a in several recursive %}{% endfor %}", "nothing but an end"),
        ("{{ said }}", "never shows `several`"),
        ("x" * (MOST_TEMPLATE_CHARS + 1), "at most"),
    ],
)
def test_a_template_reaches_nothing_but_its_slots(template: str, problem: str) -> None:
    began = time.process_time()
    with pytest.raises(Refused, match=problem):
        check_template(NOTE, template)
    assert time.process_time() - began < 1.0


@given(st.text(max_size=200) | hostile)
def test_whatever_a_template_says_it_is_taken_or_refused(template: str) -> None:
    try:
        check_template(NOTE, template)
    except Refused:
        return
    assert "several" in template


def test_a_list_reads_one_below_the_other_however_it_is_shown() -> None:
    templates = (
        "{{ said }}{{ several }}",
        "{{ said }}{{ several | join('\n') }}",
        "{{ said }}{% for x in several %}{{ x }}{% if not loop.last %}\n\n{% endif %}{% endfor %}",
    )
    for template in templates:
        told = render(replace(NOTE, template=template), {"said": "", "several": ["a", "b"]})
        assert told == "<one>a</one>\n<one>b</one>"


def test_a_line_is_counted_from_the_beginning_of_the_file() -> None:
    template = "One\n=== user\n{{ said }}\n=== assistant\n{{ several }}\n{{ nothing }}"
    with pytest.raises(Refused, match="Line 6: there is no slot `nothing`"):
        check_template(NOTE, template)


@pytest.mark.parametrize("template", ["=== user\n{{ said }}", "{{ said }}\n=== assistant \nHi."])
def test_what_is_part_of_a_message_has_no_messages_of_its_own(template: str) -> None:
    note = replace(NOTE, slots=NOTE.slots[:1])
    check_template(note, template)
    with pytest.raises(Refused, match="part of a message"):
        check_template(replace(note, is_in_chat=True), template)


def test_only_a_whole_line_begins_a_message() -> None:
    told = render_chat(replace(NOTE, template="=== username\n{{ said }}{{ several }}"), filled("x"))
    assert [(message.role, message.text[:12]) for message in told] == [("system", "=== username")]


def test_what_would_be_too_long_is_not_made() -> None:
    template = "{{ said }}" * 1_000 + "{% for one in several %}" + "x" * 9_000 + "{% endfor %}"
    for values in (filled("a" * 100_000), {"said": "", "several": ["a"] * 100_000}):
        with pytest.raises(TooLarge):
            render(replace(NOTE, template=template), values)
