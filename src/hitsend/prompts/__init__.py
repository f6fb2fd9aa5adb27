"""Prompts: hitsend's own texts for models, with versions, typed slots and checks.

Start at `render`. Each prompt is one file in `library/`. Slot values are data and never become
part of a template. Only `picker`, which chooses the version for a person, knows the store.
"""

from hitsend.prompts.files import checks, shipped_prompts
from hitsend.prompts.prompt_text import (
    Check,
    PromptText,
    Slot,
    merge_sampling,
    samples,
    with_template,
)
from hitsend.prompts.rendering import check_template, render, render_chat
from hitsend.prompts.untrusted_text import wrap_untrusted

__all__ = [
    "Check",
    "PromptText",
    "Slot",
    "wrap_untrusted",
    "check_template",
    "checks",
    "merge_sampling",
    "render",
    "render_chat",
    "samples",
    "shipped_prompts",
    "with_template",
]
