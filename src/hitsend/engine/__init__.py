"""Engines: they turn messages into tokens and generate answers. Start with `contract`.

Code outside this package imports only the names below.
"""

from hitsend.engine.contract import (
    Delayed,
    Download,
    Embedder,
    Engine,
    EngineState,
    EngineStatus,
    Finished,
    Generated,
    GenerationStep,
    Level,
    ModelFacts,
    Offer,
    Preempted,
    Prefilled,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.decoding import beam_unsupported, fall_back_to_sampling
from hitsend.engine.early_end import end_early
from hitsend.engine.embedding.minilm import MiniLm
from hitsend.engine.embedding.word_hashes import WordHashes
from hitsend.engine.llama.engine import LlamaEngine
from hitsend.engine.models.catalogue import Catalogue
from hitsend.engine.remote.engine import RemoteEngine
from hitsend.engine.scripted.engine import ScriptedEngine
from hitsend.engine.scripted.script import Script
from hitsend.engine.tool_calls import Piece, ToolCallParser, new_call_id, read_tool_name
from hitsend.engine.tool_listing import describe_tool
from hitsend.engine.tool_weights import (
    Request,
    compare_with_tools,
    compared_texts,
    split_requests,
    weigh,
)

__all__ = [
    "Catalogue",
    "Delayed",
    "Download",
    "Embedder",
    "Engine",
    "EngineStatus",
    "Finished",
    "Preempted",
    "Piece",
    "Generated",
    "GenerationStep",
    "Level",
    "LlamaEngine",
    "MiniLm",
    "ModelFacts",
    "Offer",
    "TokenizedText",
    "PrefillResult",
    "Prompt",
    "Prefilled",
    "RemoteEngine",
    "Request",
    "Script",
    "ScriptedEngine",
    "EngineState",
    "ToolCallParser",
    "WordHashes",
    "beam_unsupported",
    "compare_with_tools",
    "compared_texts",
    "describe_tool",
    "end_early",
    "fall_back_to_sampling",
    "new_call_id",
    "read_tool_name",
    "split_requests",
    "weigh",
]
