"""OpenAI's moderations API: the classifier's scores of texts, by category."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal
from uuid import uuid4

import msgspec
from msgspec import Meta

from hitsend.errors import Refused, TooLarge
from hitsend.safety.classifier import Verdict
from hitsend.safety.heads import CATEGORIES, Category

MAX_INPUTS = 32
MODEL = "hitsend-moderation"


class ModerationText(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class ModerationRequest(msgspec.Struct, frozen=True):
    """Fields that OpenAI adds later are ignored, as are other models' names."""

    input: str | Annotated[list[str | ModerationText], Meta(min_length=1)]
    """Texts. Images cannot be read here, and are refused."""
    model: str = MODEL


class ModerationResult(msgspec.Struct, frozen=True):
    flagged: bool
    categories: Mapping[Category, bool]
    category_scores: Mapping[Category, float]
    category_applied_input_types: Mapping[Category, Sequence[Literal["text"]]]


class Moderations(msgspec.Struct, frozen=True):
    id: str
    model: str
    results: Sequence[ModerationResult]


def read_inputs(request: ModerationRequest, max_chars: int) -> list[str]:
    """Returns the texts, one for each result. Parts of one input are read as one text."""
    given = [request.input] if isinstance(request.input, str) else request.input
    if len(given) > MAX_INPUTS:
        raise Refused(f"At most {MAX_INPUTS} texts can be checked at once.", param="input")
    texts = [one if isinstance(one, str) else one.text for one in given]
    if sum(map(len, texts)) > max_chars:
        raise TooLarge(f"At most {max_chars:,} characters can be checked at once.", param="input")
    is_one = not isinstance(given[0], str)
    return ["\n".join(texts)] if is_one else texts


def build_moderations(verdicts: Sequence[Verdict]) -> Moderations:
    return Moderations(f"modr-{uuid4()}", MODEL, [_build_result(one) for one in verdicts])


def _build_result(verdict: Verdict) -> ModerationResult:
    """A text that is surely harmful is flagged in its likeliest category at least."""
    is_harmful = verdict.decisions.get("harm") == "block"
    likeliest = max(CATEGORIES, key=lambda one: verdict.scores[one])
    flags = {
        one: verdict.decisions.get(one) == "block" or (is_harmful and one == likeliest)
        for one in CATEGORIES
    }
    return ModerationResult(
        flagged=is_harmful or any(flags.values()),
        categories=flags,
        category_scores={one: round(verdict.scores[one], 6) for one in CATEGORIES},
        category_applied_input_types=dict.fromkeys(CATEGORIES, ("text",)),
    )
