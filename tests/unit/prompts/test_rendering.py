"""Slot values are data: they change nothing but their own slot."""

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
    check_template,
    render,
    render_chat,
    samples,
    shipped_prompts,
    wrap_untrusted,
)
from hitsend.prompts.template import MAX_TEMPLATE_CHARS
from hitsend.prompts.untrusted_text import clean_text
from hitsend.safety import find_secret

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


def slot_values(text: str) -> dict[str, object]:
    return {"said": text, "several": [text, "x"]}


@given(hostile)
def test_a_value_changes_only_its_own_slot(text: str) -> None:
    said = wrap_untrusted("said", text) if text.strip() else ""
    several = [wrap_untrusted("one", value) for value in (text, "x") if value.strip()]
    expected = f"Before {said} between " + "\n".join(several) + "\n after"
    assert render(NOTE, slot_values(text)) == expected


@given(hostile, st.sampled_from(sorted(shipped_prompts())))
def test_no_value_becomes_a_message_of_its_own(text: str, name: str) -> None:
    prompt = shipped_prompts()[name]
    for slot in (slot for slot in prompt.slots if slot.kind != "flag"):
        value = [text] if slot.kind == "list" else text
        rendered = render_chat(prompt, {**samples(prompt), slot.name: value})
        before = render_chat(prompt, samples(prompt))
        assert [message.role for message in rendered] == [message.role for message in before]


@given(hostile)
def test_no_text_can_close_its_tag(text: str) -> None:
    marked = wrap_untrusted("said", text)
    inside = marked.removeprefix("<said>").removesuffix("</said>")
    assert len(marked) - len(inside) == len("<said></said>")
    assert "<said" not in inside.casefold()
    assert "</said" not in inside.casefold().replace(" ", "")
    assert inside.strip().replace("(", "<") == clean_text(text).replace("(", "<").replace("＜", "<")


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
def test_a_look_alike_tag_loses_only_its_bracket(mark: str) -> None:
    assert wrap_untrusted("said", f"ﬁve {mark} six") == f"<said>ﬁve ({mark[1:]} six</said>"


def test_ordinary_text_is_wrapped_unchanged() -> None:
    assert wrap_untrusted("memory", "I like <b>tea</b> & 1 < 2.") == (
        "<memory>I like <b>tea</b> & 1 < 2.</memory>"
    )
    assert wrap_untrusted("memory", "one\r\ntwo") == "<memory>\none\ntwo\n</memory>"


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
def test_a_value_that_does_not_fit_its_slot_is_refused(
    values: dict[str, object], problem: str
) -> None:
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
def test_no_prompt_contains_a_secret(secret: str) -> None:
    system = shipped_prompts()["system"]
    with pytest.raises(Refused, match="which no model may see"):
        render(system, {"instructions": f"Use {secret} for it."})
    with pytest.raises(Refused, match="Remove it"):
        check_template(system, "{{ instructions }}" + secret)
    rendered = render(NOTE, slot_values(f"My key is {secret} indeed."))
    assert secret not in rendered
    assert "My key is [secret left out]" in rendered


def test_no_text_makes_secret_detection_slow() -> None:
    """The time grows linearly with the number of unfinished keys."""

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
def test_text_that_resembles_a_secret_is_kept(text: str) -> None:
    assert text in render(shipped_prompts()["system"], {"instructions": text})


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
        ("x" * (MAX_TEMPLATE_CHARS + 1), "at most"),
    ],
)
def test_a_template_can_read_only_its_slots(template: str, problem: str) -> None:
    began = time.process_time()
    with pytest.raises(Refused, match=problem):
        check_template(NOTE, template)
    assert time.process_time() - began < 1.0


@given(st.text(max_size=200) | hostile)
def test_any_template_is_accepted_or_refused(template: str) -> None:
    try:
        check_template(NOTE, template)
    except Refused:
        return
    assert "several" in template


def test_a_list_renders_one_item_per_line() -> None:
    templates = (
        "{{ said }}{{ several }}",
        "{{ said }}{{ several | join('\n') }}",
        "{{ said }}{% for x in several %}{{ x }}{% if not loop.last %}\n\n{% endif %}{% endfor %}",
    )
    for template in templates:
        rendered = render(replace(NOTE, template=template), {"said": "", "several": ["a", "b"]})
        assert rendered == "<one>a</one>\n<one>b</one>"


def test_errors_count_lines_from_the_start_of_the_template() -> None:
    template = "One\n=== user\n{{ said }}\n=== assistant\n{{ several }}\n{{ nothing }}"
    with pytest.raises(Refused, match="Line 6: there is no slot `nothing`"):
        check_template(NOTE, template)


@pytest.mark.parametrize("template", ["=== user\n{{ said }}", "{{ said }}\n=== assistant \nHi."])
def test_a_prompt_in_a_chat_has_no_messages_of_its_own(template: str) -> None:
    note = replace(NOTE, slots=NOTE.slots[:1])
    check_template(note, template)
    with pytest.raises(Refused, match="part of a message"):
        check_template(replace(note, is_in_chat=True), template)


def test_only_a_whole_line_starts_a_message() -> None:
    rendered = render_chat(
        replace(NOTE, template="=== username\n{{ said }}{{ several }}"), slot_values("x")
    )
    assert [(message.role, message.text[:12]) for message in rendered] == [
        ("system", "=== username")
    ]


def test_rendering_stops_when_it_is_too_long() -> None:
    template = "{{ said }}" * 1_000 + "{% for one in several %}" + "x" * 9_000 + "{% endfor %}"
    for values in (slot_values("a" * 100_000), {"said": "", "several": ["a"] * 100_000}):
        with pytest.raises(TooLarge):
            render(replace(NOTE, template=template), values)
