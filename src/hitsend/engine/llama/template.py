"""A model's chat template and tokenizer, as a llama.cpp server applies them.

Used for our own child and for a remote llama-server.
"""

from collections.abc import Sequence

import msgspec

from hitsend.engine.contract import Prompt
from hitsend.engine.http import HttpClient
from hitsend.engine.llama.tokenizer import Tokenizer
from hitsend.engine.message_json import Json
from hitsend.engine.tool_grammar import CALL_TAG, strict_calls_grammar
from hitsend.engine.upstream_errors import read_problem, read_response
from hitsend.errors import Refused


class _Window(msgspec.Struct, frozen=True):
    n_ctx: int


class _Capabilities(msgspec.Struct, frozen=True):
    supports_tools: bool = False
    supports_tool_calls: bool = False


class Properties(msgspec.Struct, frozen=True):
    """The fields of `/props` that are used."""

    default_generation_settings: _Window
    chat_template: str = ""
    chat_template_caps: _Capabilities = _Capabilities()


class _Rendered(msgspec.Struct, frozen=True):
    prompt: str


class Template:
    def __init__(self, http: HttpClient, tokenizer: Tokenizer, properties: Properties) -> None:
        self.tokenizer = tokenizer
        self._http = http
        self._capabilities = properties.chat_template_caps
        self._source = properties.chat_template

    @property
    def can_call_tools(self) -> bool:
        return self._capabilities.supports_tools and self._capabilities.supports_tool_calls

    @property
    def has_call_tags(self) -> bool:
        """Whether calls stand between `<tool_call>` tags, and no thoughts come before them."""
        return self.writes_call_tags and "<think>" not in self._source

    @property
    def writes_call_tags(self) -> bool:
        return CALL_TAG in self._source

    def strict_calls(self, prompt: Prompt) -> str | None:
        """Returns the grammar of calls, from their tag on, if they have to follow their schemas."""
        return strict_calls_grammar(prompt.tools, prompt.rules) if self.writes_call_tags else None

    async def render(self, messages: Sequence[Json], tools: Sequence[object]) -> str:
        request = {"messages": messages} | ({"tools": tools} if tools else {})
        response = await self._http.request("POST", "/apply-template", msgspec.json.encode(request))
        if response.status == 500:  # llama.cpp's status for a template that raises an error
            problem = read_problem(response.body).message
            raise Refused(f"The model cannot be given these messages: {problem}")
        return read_response(response, _Rendered).prompt

    async def tokenize_structure(self, text: str, *, is_first: bool) -> tuple[int, ...]:
        return await self.tokenizer.tokenize_structure(text, is_first=is_first)

    async def tokenize_text(self, text: str) -> tuple[int, ...]:
        return await self.tokenizer.tokenize_text(text)

    async def decode_ids(self, ids: tuple[int, ...]) -> str | None:
        return await self.tokenizer.decode_ids(ids)

    def is_plain(self, text: str) -> bool:
        return self.tokenizer.vocabulary.is_plain(text)
