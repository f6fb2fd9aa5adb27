"""The dialects of remote servers (llama-server, vLLM, plain chat), and how they are detected."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import PurePath
from typing import Protocol

import msgspec
from msgspec import UnsetType

from hitsend.engine.contract import (
    GenerationStep,
    Level,
    ModelFacts,
    PrefillResult,
    Prompt,
    TokenizedText,
)
from hitsend.engine.encoding import ChatTemplate
from hitsend.engine.http import HttpClient
from hitsend.engine.idle_queue import IdleQueue
from hitsend.engine.llama.template import Properties
from hitsend.engine.remote.chat_api import ChatDialect
from hitsend.engine.remote.llama_server import LlamaServerDialect
from hitsend.engine.remote.vllm import VllmDialect, VllmModel
from hitsend.errors import HitsendError
from hitsend.messages import AnswerRules, Message, Sampling, Tool


class RemoteModel(msgspec.Struct, frozen=True):
    """An entry of `/v1/models`, with the fields by which a dialect is detected."""

    id: str
    owned_by: str = ""
    max_model_len: int | None = None

    @property
    def name(self) -> str:
        """llama-server returns the path of its file as the id, and accepts any name."""
        return PurePath(self.id).stem if self.id.endswith(".gguf") else self.id


class Dialect(Protocol):
    @property
    def level(self) -> Level: ...

    @property
    def can_call_tools(self) -> bool: ...

    @property
    def has_next_token_probs(self) -> bool: ...

    @property
    def num_window_tokens(self) -> int | None:
        """The window of all its models, if the server reports one."""

    def default_sampling(self, model: str) -> Sampling | UnsetType:
        """Returns what is sent for settings that nobody chose. Unset where the server has its
        own."""

    async def encode(
        self,
        model: ModelFacts,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        rules: AnswerRules,
    ) -> Prompt: ...

    async def tokenize(self, model: str, text: str) -> TokenizedText: ...

    async def detokenize(self, prompt: Prompt) -> tuple[bytes, ...]: ...

    def chat_template(self, model: str) -> ChatTemplate | None:
        """Returns None if the server does the encoding."""

    def generate(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[GenerationStep, None]: ...

    async def prefill(self, prompt: Prompt, idle_queue: IdleQueue) -> PrefillResult: ...


async def detect_dialect(http: HttpClient, models: Sequence[RemoteModel]) -> Dialect:
    """Trusts `owned_by`, and checks that the endpoints of the token level work."""
    if models[0].owned_by == "llamacpp" and (properties := await _read_properties(http)):
        return LlamaServerDialect(http, properties)
    if models[0].owned_by == "vllm" and await _can_round_trip(VllmModel(http, models[0].id)):
        return VllmDialect(http)
    return ChatDialect(http, is_vllm=models[0].owned_by == "vllm")


async def _read_properties(http: HttpClient) -> Properties | None:
    """Returns None behind a proxy that passes only `/v1`: then the chat level is used."""
    response = await http.request("GET", "/props")
    if response.status != 200:
        return None
    try:
        return msgspec.json.decode(response.body, type=Properties)
    except msgspec.DecodeError:
        return None


async def _can_round_trip(model: VllmModel) -> bool:
    try:
        return await model.can_round_trip()
    except HitsendError:
        return False
