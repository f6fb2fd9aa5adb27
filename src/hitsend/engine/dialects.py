"""The ways to speak to a remote server, and how to tell which one it understands."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import PurePath
from typing import Protocol

import msgspec

from hitsend.engine.chat import ChatDialect
from hitsend.engine.contract import (
    Generation,
    Level,
    ModelFacts,
    Pieces,
    Prefilled,
    Prompt,
)
from hitsend.engine.encoding import Templated
from hitsend.engine.http import Http
from hitsend.engine.llama_server import LlamaServerDialect
from hitsend.engine.spare_time import SpareTime
from hitsend.engine.template import Properties
from hitsend.engine.vllm import VllmDialect, VllmModel
from hitsend.errors import HitsendError
from hitsend.messages import Message, Sampling, Tool


class RemoteModel(msgspec.Struct, frozen=True):
    """A line of `/v1/models`. Servers add fields of their own; these tell what they are."""

    id: str
    owned_by: str = ""
    max_model_len: int | None = None

    @property
    def name(self) -> str:
        """llama-server names the path of its file, and answers to any name."""
        return PurePath(self.id).stem if self.id.endswith(".gguf") else self.id


class Dialect(Protocol):
    @property
    def level(self) -> Level: ...

    @property
    def can_call_tools(self) -> bool: ...

    @property
    def can_foresee(self) -> bool: ...

    @property
    def num_window_tokens(self) -> int | None:
        """What its models can read, where the server says so for all of them."""

    async def encode(
        self, model: ModelFacts, messages: Sequence[Message], tools: Sequence[Tool]
    ) -> Prompt: ...

    async def tokenize(self, model: str, text: str) -> Pieces: ...

    async def spell(self, prompt: Prompt) -> tuple[bytes, ...]: ...

    def templated(self, model: str) -> Templated | None:
        """What encoding needs of a model. None where the server does the encoding."""

    def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Generation, None]: ...

    async def prefill(self, prompt: Prompt, spare_time: SpareTime) -> Prefilled: ...


async def recognise(http: Http, models: Sequence[RemoteModel]) -> Dialect:
    """By what the server calls itself, and only if it can do what it takes."""
    if models[0].owned_by == "llamacpp" and (properties := await _properties(http)):
        return LlamaServerDialect(http, properties)
    if models[0].owned_by == "vllm" and await _can_speak_tokens(VllmModel(http, models[0].id)):
        return VllmDialect(http)
    return ChatDialect(http, is_vllm=models[0].owned_by == "vllm")


async def _properties(http: Http) -> Properties | None:
    """A proxy that lets only `/v1` through leaves us the lesser level."""
    answer = await http.request("GET", "/props")
    try:
        return msgspec.json.decode(answer.body, type=Properties) if answer.status == 200 else None
    except msgspec.DecodeError:
        return None


async def _can_speak_tokens(model: VllmModel) -> bool:
    try:
        return await model.can_be_rendered()
    except HitsendError:
        return False
