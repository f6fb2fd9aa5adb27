"""The services that a turn uses. `server/app.py` builds them once; tests build their own."""

from dataclasses import dataclass, field

from hitsend.background import Background
from hitsend.context.recall import Recall
from hitsend.engine import Engine
from hitsend.judge import Judge
from hitsend.prompts.picker import PromptPicker
from hitsend.safety.screener import Screener
from hitsend.settings import Settings
from hitsend.store import Store
from hitsend.tools import Questions, Toolbox


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
    safety: Screener | None = None
    """None where safety checks are turned off."""
    judge: Judge | None = None
    """None where nobody is asked about texts that the safety checks are unsure of."""
    toolbox: Toolbox = field(default_factory=Toolbox)
    questions: Questions = field(default_factory=Questions)
