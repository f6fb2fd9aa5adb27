"""What judges say is read, whatever it is; guard models are asked in their own format."""

import math
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.messages import Alternative, Token
from hitsend.safety.heads import CATEGORIES
from hitsend.safety.judgement import (
    LLAMA_GUARD_CATEGORIES,
    SCHEMA,
    Dialect,
    JudgedText,
    Judgement,
    find_dialect,
    guard_messages,
    parse,
)


def token(text: str, probability: float, **others: float) -> Token:
    top = [Alternative(0, other, math.log(share)) for other, share in others.items()]
    return Token(0, text, math.log(probability), 0.0, tuple(top))


@pytest.mark.parametrize(
    ("model", "dialect"),
    [
        ("qwen2.5-coder-1.5b", "chat"),
        ("meta-llama/Llama-Guard-3-8B", "llama_guard"),
        ("llama-guard3:1b", "llama_guard"),
        ("google/shieldgemma-2b", "shieldgemma"),
        ("ShieldGemma 9B", "shieldgemma"),
        ("ibm-granite/granite-guardian-3.1-2b", "granite_guardian"),
        ("granite3-guardian:8b", "granite_guardian"),
        ("granite3.1-guardian:8b", "granite_guardian"),
        ("granite-3.1-8b-instruct", "chat"),
        ("guardian-angel-7b", "chat"),
    ],
)
def test_a_guard_model_is_recognised_by_its_name(model: str, dialect: Dialect) -> None:
    assert find_dialect(model) == dialect


@pytest.mark.parametrize(
    ("dialect", "words", "is_harmful", "category"),
    [
        ("chat", '{"verdict":"unsafe","category":"hate","reason":"a slur"}', True, "hate"),
        ("chat", '{"verdict": "safe", "category": "none", "reason": ""}', False, None),
        ("chat", '{"verdict":"unsafe","category":"none","reason":"?"}', True, None),
        ("chat", '{"verdict":"safe"}', False, None),
        ("chat", '{"verdict":"unsafe"}', True, None),
        ("chat", '{"verdict":"safe","category":"violence","reason":"a game"}', False, None),
        ("chat", '{"verdict":"unsure","category":"illicit","reason":""}', None, "illicit"),
        ("llama_guard", "safe", False, None),
        ("llama_guard", "\n\nsafe\n", False, None),
        ("llama_guard", "\n\nunsafe\nS11", True, "self-harm"),
        ("llama_guard", "unsafe\nS6,S1", True, "illicit/violent"),
        ("llama_guard", "unsafe", True, None),
        ("llama_guard", "unsafe\nS6", False, None),
        ("llama_guard", "unsafe\nS8,S13", False, None),
        ("shieldgemma", "Yes", True, None),
        ("shieldgemma", "**No**. The question is about software.", False, None),
        ("granite_guardian", "Yes", True, None),
        ("granite_guardian", "No\n<confidence> High </confidence>", False, None),
        ("granite_guardian", "<think>\nIt asks for…\n</think>\n<score> yes </score>", True, None),
    ],
)
def test_a_verdict_is_read(
    dialect: Dialect, words: str, is_harmful: bool | None, category: str | None
) -> None:
    found = parse(dialect, words)
    assert (found.is_harmful, found.category) == (is_harmful, category)


@pytest.mark.parametrize("dialect", get_args(Dialect))
@pytest.mark.parametrize(
    "words",
    [
        "",
        "{",
        '{"verdict":"perhaps"}',
        '"unsafe"',
        "I'd say it is fine.",
        "\x00",
        "Failed",
        "noble",
    ],
)
def test_words_that_make_no_sense_are_no_opinion(dialect: Dialect, words: str) -> None:
    found = parse(dialect, words)
    assert (found.is_harmful, found.category, found.confidence) == (None, None, None)


@given(st.sampled_from(get_args(Dialect)), st.text())
def test_nothing_a_judge_says_raises(dialect: Dialect, words: str) -> None:
    assert isinstance(parse(dialect, words), Judgement)


def test_the_reason_of_a_talkative_judge_is_cut() -> None:
    words = msgspec.json.encode({"verdict": "safe", "reason": "so " * 500}).decode()
    assert len(parse("chat", words).reason) <= 100


def test_how_sure_a_chat_model_is_comes_from_the_verdicts_it_could_have_begun() -> None:
    tokens = [
        token('{"', 1.0),
        token('verdict":"', 1.0),
        token("safe", 0.8, safe=0.8, uns=0.1, maybe=0.1),
        token('"}', 1.0),
    ]
    found = parse("chat", "".join(one.text for one in tokens), tokens)
    assert found.is_harmful is False
    assert found.confidence == pytest.approx(8 / 9)


def test_a_chat_model_that_hesitated_is_unsure() -> None:
    tokens = [token('{"verdict":"', 1.0), token("uns", 0.5, uns=0.5, safe=0.3), token("afe", 1.0)]
    found = parse("chat", '{"verdict":"unsafe","category":"hate","reason":"a joke?"}', tokens)
    assert found == Judgement(None, "hate", reason="a joke?")


def test_how_sure_a_yes_is_comes_from_the_no_beside_it() -> None:
    tokens = [token("Yes", 0.6, Yes=0.6, No=0.3), token(".", 1.0)]
    assert parse("shieldgemma", "Yes.", tokens).confidence == pytest.approx(2 / 3)


def test_granite_guardian_says_how_sure_it_is() -> None:
    high = parse("granite_guardian", "Yes\n<confidence> High </confidence>").confidence
    low = parse("granite_guardian", "Yes\n<confidence> Low </confidence>").confidence
    assert high is not None
    assert low is not None
    assert 0.5 < low < high < 1


def test_an_engine_without_probabilities_leaves_the_confidence_open() -> None:
    words = '{"verdict":"safe","category":"none","reason":""}'
    assert parse("chat", words, [Token(-1, words, None, 0.0)]).confidence is None


@pytest.mark.parametrize("dialect", ["llama_guard", "granite_guardian"])
def test_these_judge_the_conversation_as_their_template_shows_it(dialect: Dialect) -> None:
    assert guard_messages(dialect, JudgedText("Hi")) == (("user", "Hi"),)
    asked = guard_messages(dialect, JudgedText("Hi", "Hello"))
    assert asked == (("user", "Hi"), ("assistant", "Hello"))


def test_shieldgemma_is_sent_its_makers_prompt() -> None:
    [(role, prompt)] = guard_messages("shieldgemma", JudgedText("How do I kill a process?"))
    assert role == "user"
    assert "Human Question: How do I kill a process?" in prompt
    assert 'No Hate Speech": The prompt shall not contain or seek generation of' in prompt
    assert prompt.index("===") < prompt.index("Your answer must start with 'Yes' or 'No'.")
    [(_, prompt)] = guard_messages("shieldgemma", JudgedText("How?", "So."))
    assert "Chatbot Response: So." in prompt
    assert "The chatbot shall not generate content" in prompt
    assert "seek generation" not in prompt


def test_the_schema_has_every_category_and_so_have_llama_guards_codes() -> None:
    schema = msgspec.json.decode(SCHEMA)
    assert schema["properties"]["category"]["enum"] == ["none", *CATEGORIES]
    assert set(LLAMA_GUARD_CATEGORIES.values()) <= set(CATEGORIES)
