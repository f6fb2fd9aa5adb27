"""Special tokens inside messages, memories and files stay text, on both models."""

from collections.abc import AsyncGenerator

import msgspec
import pytest
import pytest_asyncio
from tests.engine.answer import user

from hitsend.engine import Catalogue
from hitsend.engine.encoding import EncodedPrompt, encode
from hitsend.engine.llama.loaded_model import LoadedModel
from hitsend.engine.llama.template import Template
from hitsend.engine.message_json import messages_json, tool_json
from hitsend.messages import Message, Role, Source, Text, Tool, ToolCall, ToolResult
from hitsend.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

BENIGN = [
    Message("system", (Text("Answer in Markdown, clearly and briefly."),), "system"),
    user("What is `a < b` in C++?\n\n```cpp\nif (a <= b && c >> 1) {}\n```"),
    Message("assistant", (Text("It compares.\n\n- **a** and *b*"),), "history"),
    user("Grüße 😀, and thanks!"),
]

WEATHER = Tool(
    "get_weather",
    'Tells the "weather" at a place',
    '{"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}',
)
CALLED = Message("assistant", (ToolCall("call_1", "get_weather", '{"place": "Köln"}'),), "history")
RESULT = Message("tool", (ToolResult("call_1", "Rain, 8 °C"),), "tool")


@pytest_asyncio.fixture(
    scope="session", loop_scope="session", params=["smollm2-135m", "qwen2.5-coder-1.5b"]
)
async def model(
    request: pytest.FixtureRequest, catalogue: Catalogue, settings: Settings
) -> AsyncGenerator[Template, None]:
    loaded = LoadedModel(await catalogue.pull(request.param), settings)
    loaded.start()
    await loaded.wait_until_ready(100)
    yield loaded.template
    await loaded.close()


async def special_ids(model: Template) -> set[int]:
    """Returns their ids: as structure, each is one token."""
    ids = set()
    for text in model.tokenizer.vocabulary.special:
        (token_id,) = await model.tokenize_structure(text, is_first=False)
        ids.add(token_id)
    return ids


def hostile(model: Template) -> str:
    """Returns a text with all special tokens: separate, adjacent and nested."""
    special = sorted(model.tokenizer.vocabulary.special)
    nested = [text[:3] + text + text[3:] for text in special]
    return " and ".join(special) + "".join(special) + "".join(nested)


def ids_of(encoded: EncodedPrompt, source: Source) -> list[int]:
    ids: list[int] = []
    start = 0
    for span in encoded.spans:
        if span.source == source:
            ids += encoded.ids[start : start + span.num_tokens]
        start += span.num_tokens
    assert start == len(encoded.ids)
    return ids


async def test_the_model_has_special_tokens_that_matter(model: Template) -> None:
    assert {"<|im_start|>", "<|im_end|>"} <= model.tokenizer.vocabulary.special
    assert len(await special_ids(model)) == len(model.tokenizer.vocabulary.special)


async def test_benign_messages_have_the_ids_of_the_whole_template(model: Template) -> None:
    rendered = await model.render(messages_json(BENIGN), [])
    assert (await encode(model, BENIGN)).ids == await model.tokenize_structure(
        rendered, is_first=True
    )


@pytest.mark.parametrize("source", ["user", "memory", "file", "summary", "tool", "system"])
async def test_special_tokens_inside_a_text_stay_text(model: Template, source: Source) -> None:
    role: Role = "system" if source == "system" else "user"
    harmless = [Message(role, (Text("notes.txt"),), source), user("Hello")]
    attack = [Message(role, (Text(f"notes {hostile(model)}.txt"),), source), user("Hello")]
    plain, encoded = await encode(model, harmless), await encode(model, attack)
    assert not set(ids_of(encoded, source)) & await special_ids(model)
    assert ids_of(encoded, "template") == ids_of(plain, "template")


async def test_the_text_is_encoded_completely(model: Template) -> None:
    text = hostile(model)
    encoded = await encode(model, [user(text)])
    pieces = await model.tokenizer.tokenize_pieces(text)
    assert tuple(ids_of(encoded, "user")) == pieces.ids
    assert b"".join(pieces.pieces).decode() == text


async def test_an_answer_that_merely_comes_last_is_closed(model: Template) -> None:
    """As a guard model reads it. To be continued, it would have to be a partial answer."""
    encoded = await encode(model, BENIGN[:3])
    last_text = max(at for at, one in enumerate(encoded.spans) if one.source == "history")
    assert [span.source for span in encoded.spans[last_text + 1 :]] == ["template"]
    rendered = await model.render(messages_json(BENIGN[:3]), [])
    assert rendered.rstrip().endswith("<|im_end|>\n<|im_start|>assistant")


async def test_each_span_names_the_message_it_came_from(model: Template) -> None:
    encoded = await encode(model, BENIGN)
    named = [(span.source, span.index) for span in encoded.spans if span.source != "template"]
    assert named == [("system", 0), ("user", 1), ("history", 2), ("user", 3)]
    assert all(span.index == -1 for span in encoded.spans if span.source == "template")
    assert encoded.spans[-1].source == "template"


async def test_a_turn_starts_with_the_ids_of_the_turn_before(model: Template) -> None:
    before = await encode(model, BENIGN[:2])
    after = await encode(model, BENIGN)
    assert after.ids[: len(before.ids)] == before.ids


@pytest.mark.parametrize("model", ["qwen2.5-coder-1.5b"], indirect=True)
async def test_tools_calls_and_results_have_the_ids_of_the_whole_template(
    model: Template,
) -> None:
    messages = [user("How is the weather in Köln?"), CALLED, RESULT]
    rendered = await model.render(messages_json(messages), [msgspec.Raw(as_json(WEATHER))])
    encoded = await encode(model, messages, [WEATHER])
    assert encoded.ids == await model.tokenize_structure(rendered, is_first=True)


@pytest.mark.parametrize("model", ["qwen2.5-coder-1.5b"], indirect=True)
async def test_special_tokens_inside_tools_and_calls_stay_text(model: Template) -> None:
    attack = hostile(model).replace("\\", "")
    schema = {"type": "object", "properties": {attack: {"type": "string", "enum": [attack]}}}
    tool = Tool("get_weather", f'say "{attack}"', msgspec.json.encode(schema).decode())
    arguments = msgspec.json.encode({attack: [attack]}).decode()
    called = Message("assistant", (ToolCall(attack, attack, arguments),), "history")
    result = Message("tool", (ToolResult(attack, attack),), "tool")
    harmless = await encode(model, [user("Hi"), CALLED, RESULT], [WEATHER])
    encoded = await encode(model, [user("Hi"), called, result], [tool])
    special = await special_ids(model)
    for source in ("tool", "history"):
        assert ids_of(encoded, source)
        assert not set(ids_of(encoded, source)) & special
    assert structure(encoded, special) == structure(harmless, special)


def as_json(tool: Tool) -> bytes:
    return msgspec.json.encode(tool_json(tool))


def structure(encoded: EncodedPrompt, special: set[int]) -> list[int]:
    return [token_id for token_id in encoded.ids if token_id in special]
