"""Rules that texts are matched with before any model reads them."""

import msgspec

from hitsend.safety.policy import Action, Stage


class RuleHit(msgspec.Struct, frozen=True):
    rule: str
    action: Action
    category: str = ""


def match_rules(text: str, stage: Stage) -> list[RuleHit]:
    return []
