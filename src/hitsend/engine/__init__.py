"""Engines: what turns messages into tokens and tokens into tokens.

Start with `contract`. Whoever uses an engine needs nothing but the names below.
"""

from hitsend.engine.catalogue import Catalogue
from hitsend.engine.contract import (
    Delayed,
    Download,
    Engine,
    EngineStatus,
    Finished,
    GaveWay,
    Generated,
    Generation,
    Level,
    ModelFacts,
    Offer,
    Pieces,
    Prefilled,
    Prompt,
    PromptWasRead,
    State,
)
from hitsend.engine.decoding import cannot_foresee, for_model
from hitsend.engine.embedding import Embedder
from hitsend.engine.embedding_minilm import MiniLm
from hitsend.engine.embedding_words import WordHashes
from hitsend.engine.llama import LlamaEngine
from hitsend.engine.remote import RemoteEngine
from hitsend.engine.script import Script
from hitsend.engine.scripted import ScriptedEngine
from hitsend.engine.tool_calls import ToolCallParser, tool_schema

__all__ = [
    "Catalogue",
    "Delayed",
    "Download",
    "Embedder",
    "Engine",
    "EngineStatus",
    "Finished",
    "GaveWay",
    "Generated",
    "Generation",
    "Level",
    "LlamaEngine",
    "MiniLm",
    "ModelFacts",
    "Offer",
    "Pieces",
    "Prefilled",
    "Prompt",
    "PromptWasRead",
    "RemoteEngine",
    "Script",
    "ScriptedEngine",
    "State",
    "ToolCallParser",
    "WordHashes",
    "cannot_foresee",
    "for_model",
    "tool_schema",
]
