"""A judge's opinion of a text: what a model is asked, in its own dialect, and how its words read.

Four dialects: `chat` is any chat model, asked with our prompt and bound to a schema; Llama Guard,
ShieldGemma and Granite Guardian have formats of their own, published by their makers. Their chat
templates add the task of Llama Guard and Granite Guardian; ShieldGemma's prompt is written here.

Nothing here raises: words that make no sense are a judgement without an opinion.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from hitsend.safety.heads import CATEGORIES, Category

Dialect: TypeAlias = Literal["chat", "llama_guard", "shieldgemma", "granite_guardian"]
GuardMessage: TypeAlias = tuple[Literal["user", "assistant"], str]

MAX_REASON_CHARS = 100
MIN_CONFIDENCE = 0.75
"""A chat model that was less sure of its verdict is taken to be unsure."""


class Judgement(msgspec.Struct, frozen=True):
    is_harmful: bool | None
    """None if the judge does not know, or did not say."""
    category: Category | None = None
    confidence: float | None = None
    """From 0 to 1, that it is right. None where it cannot be told."""
    reason: str = ""


class JudgedText(msgspec.Struct, frozen=True):
    """A message, or the answer to one if there is an answer."""

    question: str
    answer: str = ""


class Likelihood(Protocol):
    """A token of the judge's words, with the likely ones beside it."""

    @property
    def text(self) -> str: ...
    @property
    def logprob(self) -> float | None: ...


class JudgeToken(Likelihood, Protocol):
    @property
    def top(self) -> Sequence[Likelihood]: ...


NAMES: Mapping[Dialect, re.Pattern[str]] = {
    "llama_guard": re.compile(r"llama[-_ ]?guard"),
    "shieldgemma": re.compile(r"shield[-_ ]?gemma"),
    "granite_guardian": re.compile(r"granite.*guardian"),
}


def find_dialect(model: str) -> Dialect:
    """A guard model is recognised by its name; any other is a chat model."""
    name = model.casefold()
    return next((dialect for dialect, pattern in NAMES.items() if pattern.search(name)), "chat")


# A chat model, under our prompt.

# The verdict comes first, and a safe one is all there is: a person waits for it.
SCHEMA = msgspec.json.encode(
    {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["safe", "unsafe", "unsure"]},
            "category": {"enum": ["none", *CATEGORIES]},
            "reason": {"type": "string", "maxLength": MAX_REASON_CHARS},
        },
        "required": ["verdict"],
        "additionalProperties": False,
    }
).decode()


class _Said(msgspec.Struct, frozen=True):
    verdict: Literal["safe", "unsafe", "unsure"]
    category: str = "none"
    reason: str = ""


def parse_chat(words: str, tokens: Sequence[JudgeToken] = ()) -> Judgement:
    try:
        said = msgspec.json.decode(words, type=_Said)
    except (msgspec.DecodeError, UnicodeError):
        return _no_opinion(words)
    category, reason = _category(said.category), said.reason[:MAX_REASON_CHARS]
    share = _verdict_share(said.verdict, tokens)
    if said.verdict == "unsure" or (share is not None and share < MIN_CONFIDENCE):
        return Judgement(None, category, reason=reason)
    is_harmful = said.verdict == "unsafe"
    return Judgement(is_harmful, category if is_harmful else None, share, reason)


def _verdict_share(verdict: str, tokens: Sequence[JudgeToken]) -> float | None:
    """Returns how likely the verdict was where it began, among the verdicts there are."""
    begun = ""
    for token in tokens:
        if begun.replace(" ", "").endswith('"verdict":"'):
            return _share(token, verdict, ("safe", "unsafe", "unsure"))
        begun += token.text
    return None


def _share(token: JudgeToken, said: str, possible: Sequence[str]) -> float | None:
    """Returns the probability of the tokens that begin `said`, of those that begin any word that
    is possible. None where the engine tells no probabilities."""
    likely = {one.text.strip().casefold(): one.logprob for one in (token, *token.top)}
    weights = {
        text: math.exp(logprob)
        for text, logprob in likely.items()
        if text and logprob is not None and any(word.startswith(text) for word in possible)
    }
    total = sum(weights.values())
    matching = sum(weight for text, weight in weights.items() if said.startswith(text))
    return matching / total if total else None


# Guard models.

LLAMA_GUARD_CATEGORIES: Mapping[str, Category] = {
    "S1": "illicit/violent",
    "S2": "illicit",
    "S3": "sexual",
    "S4": "sexual/minors",
    "S5": "harassment",
    "S7": "illicit",
    "S9": "illicit/violent",
    "S10": "hate",
    "S11": "self-harm",
    "S12": "sexual",
    "S14": "illicit",
}
"""Specialised advice (S6), intellectual property (S8) and elections (S13) are not harm here."""


def parse_llama_guard(words: str) -> Judgement:
    match words.split(None, 1):
        case ["safe", *_]:
            return Judgement(False)
        case ["unsafe", *rest]:
            codes = re.findall(r"\bS\d{1,2}\b", rest[0] if rest else "")
            known = [name for code in codes if (name := LLAMA_GUARD_CATEGORIES.get(code))]
            reason = ", ".join(codes)
            if codes and not known:
                return Judgement(False, reason=f"{reason} only")
            return Judgement(True, known[0] if known else None, reason=reason)
    return _no_opinion(words)


GUIDELINES: Mapping[str, str] = {
    "No Dangerous Content": "content that harming oneself and/or others (e.g., accessing or "
    "building firearms and explosive devices, promotion of terrorism, instructions for suicide).",
    "No Harassment": "content that is malicious, intimidating, bullying, or abusive content "
    "targeting another individual (e.g., physical threats, denial of tragic events, disparaging "
    "victims of violence).",
    "No Hate Speech": "content that targeting identity and/or protected attributes (e.g., racial "
    "slurs, promotion of discrimination, calls to violence against protected groups) or "
    "dehumanizing/belittling/vilifying on the bases of race, ethnicity, religion, disability, age, "
    "nationality, veteran status, sexual orientation, gender, gender identity, caste, or any other "
    "protected status. We do allow content that includes a reference to a protected individual or "
    "group in a positive manner.",
    "No Sexually Explicit Information": "content that contains references to sexual acts or other "
    "lewd content (e.g., sexually graphic descriptions, content aimed at causing arousal). Medical "
    "or scientific terms related to human anatomy or sex education are permitted.",
}
"""ShieldGemma's four policies, in its makers' words."""


def shieldgemma_prompt(judged: JudgedText) -> str:
    """The published prompt, without its turn marks: engines take those for text."""
    subject, violator, asked, answer = (
        ("model response", "chatbot response", ANSWER_POLICY, f"Chatbot Response: {judged.answer}")
        if judged.answer
        else ("user prompt", "human question", PROMPT_POLICY, "")
    )
    policies = [f'* "{name}": {asked} {rest}' for name, rest in GUIDELINES.items()]
    paragraphs = [
        f"You are a policy expert trying to help determine whether a {subject} is in violation of "
        "the defined safety policies.",
        f"Human Question: {judged.question}",
        answer,
        "Our safety principle is defined in the below:",
        "\n".join(policies),
        "===",
        f"Does the {violator} violate the above principles? Your answer must start with 'Yes' or "
        "'No'. And then walk through step by step to be sure we answer correctly.",
    ]
    return "\n\n".join(filter(None, paragraphs))


PROMPT_POLICY = "The prompt shall not contain or seek generation of"
ANSWER_POLICY = "The chatbot shall not generate"


def parse_yes_no(words: str, tokens: Sequence[JudgeToken] = ()) -> Judgement:
    """ShieldGemma's words: Yes or No, then perhaps its steps."""
    found = re.match(r"\W*(yes|no)\b", words, re.IGNORECASE)
    if found is None:
        return _no_opinion(words)
    said = found[1].casefold()
    first = next((token for token in tokens if token.text.strip()), None)
    share = _share(first, said, ("yes", "no")) if first else None
    return Judgement(said == "yes", confidence=share, reason=found[0].strip())


GRANITE_CONFIDENCE: Mapping[str, float] = {"high": 0.9, "low": 0.6}


def parse_granite_guardian(words: str) -> Judgement:
    """Yes or No, which since version 3.2 a confidence follows; from 3.3 on as a score, after
    thoughts that may be empty."""
    rest = re.sub(r"<think>.*?</think>", "", words, flags=re.DOTALL)
    found = re.match(r"\s*(?:<score>)?\s*(yes|no)\b", rest, re.IGNORECASE)
    if found is None:
        return _no_opinion(words)
    sure = re.search(r"<confidence>\s*(high|low)\b", rest, re.IGNORECASE)
    confidence = GRANITE_CONFIDENCE[sure[1].casefold()] if sure else None
    return Judgement(found[1].casefold() == "yes", confidence=confidence, reason=found[1])


def guard_messages(dialect: Dialect, judged: JudgedText) -> tuple[GuardMessage, ...]:
    """What a guard model is sent. Its own chat template writes the task around it, except for
    ShieldGemma's."""
    if dialect == "shieldgemma":
        return (("user", shieldgemma_prompt(judged)),)
    question: GuardMessage = ("user", judged.question)
    return (question, ("assistant", judged.answer)) if judged.answer else (question,)


def parse(dialect: Dialect, words: str, tokens: Sequence[JudgeToken] = ()) -> Judgement:
    match dialect:
        case "chat":
            return parse_chat(words, tokens)
        case "llama_guard":
            return parse_llama_guard(words)
        case "shieldgemma":
            return parse_yes_no(words, tokens)
        case "granite_guardian":
            return parse_granite_guardian(words)


def _no_opinion(words: str) -> Judgement:
    return Judgement(None, reason="The judge said nothing that can be read." if words else "")


def _category(name: str) -> Category | None:
    return next((category for category in CATEGORIES if category == name), None)
