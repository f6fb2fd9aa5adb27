"""What happens to a text that the checks found something in: a policy, and the record of it.

A policy says for each category what to do with a text that is surely of it. Texts that the
classifier is unsure of are allowed with care: the model gets a note, and its answer is watched.
Nothing here reads a text.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hitsend.safety.heads import CATEGORIES, Category
from hitsend.safety.personal_data import DataKind
from hitsend.safety.rules import Stage

Outcome: TypeAlias = Literal["allow", "redact", "caution", "rewrite", "review", "cut", "block"]
"""From mild to severe. `redact`: the model sees placeholders. `caution`: the model is told to take
care. `rewrite`: leaks were taken out of the answer. `review`: allowed, and a reviewer looks at it.
`cut`: the answer ends before the sentence. `block`: nothing of it reached the model, or the
person."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
SEVERITY: Mapping[Outcome, int] = {name: rank for rank, name in enumerate(OUTCOMES)}

Layer: TypeAlias = Literal["rule", "personal_data", "classifier", "judge", "leak", "refusal"]

Action: TypeAlias = Literal["allow", "caution", "review", "block"]
"""What a policy may ask for."""
Concern: TypeAlias = Category | Literal["jailbreak", "injection"]
CONCERNS: tuple[Concern, ...] = (*CATEGORIES, "jailbreak", "injection")

Route: TypeAlias = Literal["chat", "api"]
"""Where a text came in: from a page or a terminal, or with an API key on /v1."""

DEFAULT_ACTIONS: Mapping[Concern, Action] = {
    "harassment": "caution",
    "harassment/threatening": "block",
    "hate": "block",
    "hate/threatening": "block",
    "illicit": "block",
    "illicit/violent": "block",
    "self-harm": "caution",
    "self-harm/intent": "caution",
    "self-harm/instructions": "block",
    "sexual": "caution",
    "sexual/minors": "block",
    "violence": "caution",
    "violence/graphic": "caution",
    "jailbreak": "caution",
    "injection": "caution",
}
"""Who speaks of harming themselves is answered, with care and with people to call."""


MAX_PHRASE_CHARS = 200
Phrase: TypeAlias = Annotated[str, Meta(min_length=2, max_length=MAX_PHRASE_CHARS, pattern=r"\S")]


class SafetyReason(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a check did more than allow."""

    layer: Layer
    name: str
    """A category, the id of a rule without one, or a kind of data or leak."""
    score: float | UnsetType = UNSET
    rule: str | UnsetType = UNSET
    """The id of the rule that found it."""


class Screening(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the checks made of a text. It never contains the text."""

    stage: Stage
    outcome: Outcome
    reasons: tuple[SafetyReason, ...] = ()
    """The one that decided comes first."""
    policy: int | UnsetType = UNSET
    """The version of the policy. Unset for the shipped one."""
    took_ms: float = 0.0
    is_complete: bool = True
    """False if the classifier could not read the text, or not all of it."""
    is_queued: bool = False
    """A reviewer shall look at it."""
    has_help: bool = False
    """The person may need people to talk to: the page shows some."""

    @property
    def category(self) -> str | None:
        return self.reasons[0].name if self.reasons else None

    @property
    def is_worth_showing(self) -> bool:
        return self.outcome != "allow" or bool(self.reasons) or not self.is_complete


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an administrator decides for everyone, or for a group."""

    actions: Mapping[Concern, Action] = msgspec.field(default_factory=lambda: DEFAULT_ACTIONS)
    """For texts that are surely of a category. Those left out are allowed."""
    unsure: Action = "caution"
    """For texts that may be harmful, where no judge knows better."""
    uses_judge: bool = True
    """Ask a model about texts that the classifier is unsure of, if a judge is configured."""
    redacted: tuple[DataKind, ...] = ("card", "key")
    """The model sees placeholders for these."""
    watches_answers: bool = True
    holds_sentences: bool = False
    """Hold every answer back to the end of its sentence, and read each with the classifier. Off:
    only answers that raise suspicion."""
    fails_closed: tuple[Route, ...] = ()
    """Where nothing is answered while the classifier does not work."""
    reviews_blocks: bool = True
    """Put what was blocked into the review queue."""
    allowed: Annotated[tuple[Phrase, ...], Meta(max_length=200)] = ()
    """A message with one of these words or phrases is not checked further."""
    denied: Annotated[tuple[Phrase, ...], Meta(max_length=200)] = ()
    """One of these words or phrases blocks a message, and an answer."""

    def action_for(self, concern: Concern) -> Action:
        return self.actions.get(concern, "allow")


DEFAULT_POLICY = Policy()
HELP_CATEGORIES = frozenset({"self-harm", "self-harm/intent", "self-harm/instructions"})
