"""Prompts as files: what hitsend itself says to a model, with versions, typed slots and checks.

Start at `render`. Each prompt is one file in `library/`; what goes into its slots is data and never
becomes a template. It knows no store, no engine and no person: which version holds for whom is
`prompt_book`'s to say.
"""

from hitsend.prompts.data import as_data
from hitsend.prompts.decoding import laid_over
from hitsend.prompts.files import checks, shipped
from hitsend.prompts.rendering import check_template, render, render_chat
from hitsend.prompts.secrets import find_secret, without_secrets
from hitsend.prompts.text import Check, PromptText, Slot, samples, with_template

__all__ = [
    "Check",
    "PromptText",
    "Slot",
    "as_data",
    "check_template",
    "checks",
    "find_secret",
    "laid_over",
    "render",
    "render_chat",
    "samples",
    "shipped",
    "with_template",
    "without_secrets",
]
