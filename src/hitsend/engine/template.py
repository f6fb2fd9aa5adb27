"""A model's chat template, as llama.cpp applies it: all that encoding needs of such a model.

The same for our own child and for a llama-server elsewhere. Who keeps the server alive, and
what the template says, is not known here.
"""

from collections.abc import Sequence

import msgspec

from hitsend.engine.http import Http
from hitsend.engine.openai_request import Json
from hitsend.engine.tokenizer import Tokenizer
from hitsend.engine.upstream import read_answer, read_problem
from hitsend.errors import Refused


class _Window(msgspec.Struct, frozen=True):
    n_ctx: int


class _Capabilities(msgspec.Struct, frozen=True):
    supports_tools: bool = False
    supports_tool_calls: bool = False


class Properties(msgspec.Struct, frozen=True):
    """What `/props` tells."""

    default_generation_settings: _Window
    chat_template_caps: _Capabilities = _Capabilities()


class _Rendered(msgspec.Struct, frozen=True):
    prompt: str


class Template:
    def __init__(self, http: Http, tokenizer: Tokenizer, properties: Properties) -> None:
        self.tokenizer = tokenizer
        self._http = http
        self._capabilities = properties.chat_template_caps

    @property
    def can_call_tools(self) -> bool:
        return self._capabilities.supports_tools and self._capabilities.supports_tool_calls

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        request = {"messages": messages} | ({"tools": tools} if tools else {})
        answer = await self._http.request("POST", "/apply-template", msgspec.json.encode(request))
        if answer.status == 500:  # how llama.cpp tells that a template did not take them
            said = read_problem(answer.body).message
            raise Refused(f"The model cannot be given these messages: {said}")
        return read_answer(answer, _Rendered).prompt

    async def ids_of_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        return await self.tokenizer.ids_of_structure(text, is_first=is_first)

    async def ids_of_text(self, text: str) -> tuple[int, ...]:
        return await self.tokenizer.ids_of_text(text)

    async def text_of_ids(self, ids: tuple[int, ...]) -> str | None:
        return await self.tokenizer.text_of_ids(ids)

    def is_plain(self, text: str) -> bool:
        return self.tokenizer.vocabulary.is_plain(text)
