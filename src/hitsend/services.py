"""The services that a turn uses. `server/app.py` builds them once; tests build their own."""

from dataclasses import dataclass

from hitsend.background import Background
from hitsend.context.recall import Recall
from hitsend.engine import Engine
from hitsend.prompts.picker import PromptPicker
from hitsend.settings import Settings
from hitsend.store import Store


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    store: Store
    engine: Engine
    prompts: PromptPicker
    recall: Recall
    background: Background
    idle_work: Background
    """Work that waits until the engine is idle."""
