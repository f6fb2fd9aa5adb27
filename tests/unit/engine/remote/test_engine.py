"""The remote engine on a plain chat API, and its failures."""

import asyncio
from contextlib import aclosing

import msgspec
import pytest
from msgspec.structs import replace
from tests.unit.engine.fake_server import (
    STREAM_HEAD,
    Request,
    chunked,
    serving,
    sse,
    whole,
)
from tests.unit.engine.remote.fake_chat_server import (
    CHAT,
    HELLO,
    PLAIN,
    USAGE,
    ChatServer,
    answer_of,
    delta,
    engine_on,
    text_of,
)

from hitsend.engine.contract import (
    Delayed,
    Finished,
    Generated,
    Preempted,
    Prefilled,
    PrefillResult,
)
from hitsend.engine.remote.engine import RemoteEngine
from hitsend.engine.tool_calls import Piece, ToolCallParser
from hitsend.errors import (
    EngineDown,
    EngineLost,
    HitsendError,
    PromptTooLong,
    Refused,
    UnknownModel,
)
from hitsend.events import ToolArgumentsArrived, ToolCallDropped, ToolCallStarted
from hitsend.messages import (
    Alternative,
    AnswerRules,
    Message,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from hitsend.settings import BadSetting, Settings


async def test_a_chat_server_answers() -> None:
    server = ChatServer(sse(delta(""), delta("Hel"), delta("lo"), delta(finish="stop"), USAGE))
    async with engine_on(server) as (engine, _):
        facts = await engine.resolve("auto")
        assert (facts.name, facts.level, facts.where) == ("first", "chat", "remote")
        read, *steps, finished = await answer_of(engine)
        assert engine.status().state == "ready"
    assert isinstance(read, Prefilled)
    assert text_of(steps) == "Hello"
    assert isinstance(finished, Finished)
    assert finished.reason == "stop"
    usage = finished.usage
    assert (usage.num_input_tokens, usage.num_output_tokens) == (9, 2)
    assert (usage.num_cached_tokens, usage.is_estimated) == (4, False)


class SlowServer(ChatServer):
    """Answers each chat when the test says so, in the order they came."""

    def __init__(self) -> None:
        super().__init__(sse(delta("Hi"), delta(finish="stop"), USAGE))
        self.has_request, self.may_answer = asyncio.Semaphore(0), asyncio.Semaphore(0)
        self.most_at_once = self.num_at_once = 0

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == CHAT:
            self.num_at_once += 1
            self.most_at_once = max(self.most_at_once, self.num_at_once)
            self.has_request.release()
            await self.may_answer.acquire()
            self.num_at_once -= 1
        await super().__call__(request, writer)


async def test_requests_to_the_server_are_fair_between_people_and_told_that_they_wait() -> None:
    server, ended, places = SlowServer(), list[str](), list[int]()
    waits = {who: asyncio.Semaphore(0) for who in ("hog", "eve")}
    async with engine_on(server, concurrency=2) as (engine, _):

        async def ask(who: str) -> None:
            prompt = await engine.encode("first", HELLO)
            async with aclosing(engine.generate(prompt, PLAIN, who)) as generation:
                async for step in generation:
                    if isinstance(step, Delayed):
                        assert step.reason == "queue"
                        places.append(step.num_ahead)
                        waits[who].release()
            ended.append(who)

        async with asyncio.TaskGroup() as group:
            for _ in range(6):
                group.create_task(ask("hog"))
            for _ in range(4):
                await waits["hog"].acquire()
            group.create_task(ask("eve"))
            await waits["eve"].acquire()
            for _ in range(2):
                await server.has_request.acquire()
            for _ in range(7):
                server.may_answer.release()
    assert server.most_at_once == 2
    assert ended.index("eve") <= 3
    assert max(places) == 3


async def test_greedy_requests_temperature_zero() -> None:
    server = ChatServer(sse(delta("Hi"), delta(finish="stop"), USAGE))
    async with engine_on(server) as (engine, fake):
        await answer_of(engine, sampling=Sampling(policy="greedy"))
    request = next(one for one in fake.requests if one.path == CHAT)
    assert msgspec.json.decode(request.body)["temperature"] == 0


async def test_beam_search_is_refused_on_a_chat_server() -> None:
    async with engine_on(ChatServer(b"")) as (engine, _):
        assert not (await engine.resolve("auto")).has_next_token_probs
        with pytest.raises(Refused, match="beam search"):
            await answer_of(engine, sampling=Sampling(policy="beam"))


async def test_chunks_that_arrive_together_are_one_step() -> None:
    server = ChatServer(sse(*[delta(" word")] * 50, delta(finish="stop")))
    async with engine_on(server) as (engine, _):
        steps = [step for step in await answer_of(engine) if isinstance(step, Generated)]
    assert sum(len(step.tokens) for step in steps) == 50
    assert len(steps) < 10


async def test_usage_is_estimated_if_the_server_sends_none() -> None:
    server = ChatServer(sse(delta("one"), delta(" two"), delta(finish="length")))
    async with engine_on(server) as (engine, _):
        finished = (await answer_of(engine))[-1]
    assert isinstance(finished, Finished)
    assert (finished.reason, finished.usage.num_output_tokens) == ("length", 2)
    assert finished.usage.is_estimated


async def test_the_request_to_a_chat_server() -> None:
    sampling = Sampling(
        temperature=0.5,
        top_k=7,
        seed=1,
        max_tokens=9,
        stop=("END",),
        logit_bias=((5, -100),),
        top_logprobs=2,
        json_schema='{"type":"object"}',
    )
    async with engine_on(ChatServer(sse(delta(finish="stop"))), suffix="/v1/") as (engine, server):
        await answer_of(engine, sampling, [Tool("look", "Look it up", '{"type":"object"}')])
    request = server.requests_to(CHAT)[0]
    assert request.headers["authorization"] == "Bearer secret"
    schema = {"type": "object"}
    function = {"name": "look", "description": "Look it up", "parameters": schema}
    assert request.json == {
        "model": "first",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "top_k": 7,
        "seed": 1,
        "max_tokens": 9,
        "stop": ["END"],
        "logit_bias": {"5": -100},
        "response_format": {"type": "json_object"},
        "tools": [{"type": "function", "function": function}],
        "logprobs": True,
        "top_logprobs": 2,
    }


async def test_what_the_caller_asked_of_the_answer_is_sent_as_it_was() -> None:
    rules = AnswerRules(
        must_call=True,
        has_parallel_calls=False,
        schema_name="place",
        schema_description="Where it is.",
        is_schema_strict=True,
        reasoning_effort="high",
    )
    tool = replace(LOOK, is_strict=True)
    sampling = Sampling(json_schema='{"type":"string"}')
    async with engine_on(ChatServer(sse(delta(finish="stop")))) as (engine, server):
        prompt = await engine.encode("auto", HELLO, [tool], rules)
        async with aclosing(engine.generate(prompt, sampling)) as generation:
            assert [step async for step in generation]
    request = server.requests_to(CHAT)[0].json
    schema = {"type": "string"}
    named = {"name": "place", "description": "Where it is.", "strict": True, "schema": schema}
    parameters = {"type": "object"}
    function = {"name": "look", "description": "Look it up", "parameters": parameters}
    assert request["response_format"] == {"type": "json_schema", "json_schema": named}
    assert request["tools"] == [{"type": "function", "function": function | {"strict": True}}]
    assert request["tool_choice"] == "required"
    assert request["parallel_tool_calls"] is False
    assert request["reasoning_effort"] == "high"


async def test_tool_calls_and_results_are_sent_in_openais_format() -> None:
    messages = [
        Message("developer", (Text("be brief"),), "system"),
        Message("assistant", (Text("let me see"), ToolCall("c1", "look", '{"q":1}'))),
        Message("tool", (ToolResult("c1", "found"),), "tool"),
    ]
    async with engine_on(ChatServer(sse(delta(finish="stop")))) as (engine, server):
        prompt = await engine.encode("second", messages)
        async with aclosing(engine.generate(prompt, PLAIN)) as generation:
            assert [step async for step in generation]
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":1}'}}
    request = server.requests_to(CHAT)[0].json
    assert request["model"] == "second"
    assert request["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "assistant", "content": "let me see", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]


LOOK = Tool("look", "Look it up", '{"type":"object"}')


def call_piece(index: int = 0, **function: str) -> object:
    return delta(tool_calls=[{"index": index, "function": function}])


async def pieces_of(*chunks: object) -> list[Piece]:
    """Returns what the parser finds in an answer that comes in these chunks."""
    parser = ToolCallParser(["look"], lambda: "c")
    async with engine_on(ChatServer(sse(*chunks))) as (engine, _):
        steps = await answer_of(engine, tools=[LOOK])
    texts = [token.text for step in steps if isinstance(step, Generated) for token in step.tokens]
    found = [piece for text in texts for piece in parser.feed(text)]
    finished = steps[-1]
    assert isinstance(finished, Finished)
    return found + parser.finish(is_cut=finished.reason == "length")


async def test_a_streamed_tool_call_becomes_the_text_a_model_writes() -> None:
    assert await pieces_of(
        delta("Wait."),
        call_piece(name="look", arguments=""),
        call_piece(arguments='{"q": "a '),
        call_piece(arguments='</tool_call> b"}'),
        delta(finish="tool_calls"),
    ) == [
        "Wait.",
        ToolCallStarted("c", "look"),
        ToolArgumentsArrived("c", '{"q": "a '),
        ToolArgumentsArrived("c", '</tool_call> b"}'),
        ToolCall("c", "look", '{"q": "a </tool_call> b"}'),
    ]


async def test_calls_that_come_mixed_are_kept_apart() -> None:
    found = await pieces_of(
        call_piece(0, name="look", arguments='{"q":'),
        call_piece(1, name="look", arguments=""),
        call_piece(2, name="look", arguments='{"q": 3}'),
        call_piece(0, arguments="1}"),
        delta(finish="tool_calls"),
    )
    calls = [piece for piece in found if isinstance(piece, ToolCall)]
    assert [call.arguments for call in calls] == ['{"q":1}', "{}", '{"q": 3}']


async def test_a_call_that_a_server_cuts_is_no_call() -> None:
    *_, last = await pieces_of(
        call_piece(name="look", arguments='{"q": "a'), delta(finish="length")
    )
    assert last == ToolCallDropped("cut", call_id="c")


async def test_probabilities_are_kept_if_the_server_sends_them() -> None:
    likely = {
        "token": "Hi",
        "logprob": -0.5,
        "top_logprobs": [{"token": "Hi", "logprob": -0.5}, {"token": "Yo", "logprob": -1}],
    }
    chunk = {"choices": [{"delta": {"content": "Hi"}, "logprobs": {"content": [likely]}}]}
    async with engine_on(ChatServer(sse(chunk, delta(finish="stop")))) as (engine, _):
        steps = await answer_of(engine, Sampling(top_logprobs=2))
    (token,) = next(step.tokens for step in steps if isinstance(step, Generated))
    assert (token.text, token.logprob) == ("Hi", -0.5)
    assert token.top == (Alternative(-1, "Hi", -0.5), Alternative(-1, "Yo", -1))


async def test_the_length_of_a_prompt_is_marked_as_an_estimate() -> None:
    async with engine_on(ChatServer(b"")) as (engine, _):
        prompt = await engine.encode("first", [*HELLO, *HELLO])
        assert not prompt.is_exact
        assert [span.index for span in prompt.spans] == [0, 1]
        assert prompt.num_tokens == sum(span.num_tokens for span in prompt.spans) > 0
        with pytest.raises(Refused, match="does not say how it splits text"):
            await engine.tokenize("first", "hello")


async def test_the_default_model_comes_first() -> None:
    async with engine_on(ChatServer(b""), model="second") as (engine, _):
        assert (await engine.resolve("auto")).name == "second"
        assert [facts.name for facts in await engine.models()] == ["second", "first"]


async def test_a_model_added_later_is_found() -> None:
    fake = ChatServer(b"")
    async with engine_on(fake) as (engine, _):
        await engine.resolve("first")
        fake.models.append("third")
        assert (await engine.resolve("third")).name == "third"
        with pytest.raises(UnknownModel, match="no model 'fourth'"):
            await engine.resolve("fourth")


def problem(status: str, message: str, code: str | None = None, **headers: str) -> bytes:
    body = {"error": {"message": message, "type": "x", "code": code}}
    return whole(msgspec.json.encode(body), status, **headers)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (problem("401 Unauthorized", "bad key"), EngineDown, "HITSEND_ENGINE_KEY"),
        (problem("404 Not Found", "The model `x` does not exist"), UnknownModel, "no model"),
        (problem("400 Bad Request", "", "context_length_exceeded"), PromptTooLong, "maximum"),
        (problem("400 Bad Request", "maximum context length is 9"), PromptTooLong, "maximum"),
        (problem("400 Bad Request", "top_k is unknown."), Refused, "refused the request"),
        (problem("429 Too Many", "slow down", Retry_After="7"), EngineDown, "busy"),
        (problem("503 Unavailable", "loading"), EngineDown, "busy"),
        (problem("500 Error", "oops"), EngineDown, "answered 500"),
        (whole(b"<html>", "502 Bad Gateway"), EngineDown, "answered 502"),
        (b"", EngineDown, "hung up"),
        (STREAM_HEAD + chunked(b"data: {"), EngineLost, "hung up in the middle"),
        (STREAM_HEAD + chunked(b"data: nonsense\n\n") + chunked(b""), EngineLost, "unreadable"),
        (sse(delta("Hi"))[: -len(chunked(b"data: [DONE]\n\n") + chunked(b""))] + chunked(b""),
         EngineLost, "stopped in the middle"),
        (sse(delta("Hi"), {"error": {"message": "CUDA died"}}), EngineLost, "failed in the middle"),
    ],
)  # fmt: skip
async def test_errors_of_the_server_are_translated(
    answer: bytes, kind: type[HitsendError], words: str
) -> None:
    async with engine_on(ChatServer(answer)) as (engine, _):
        with pytest.raises(kind, match=words) as raised:
            await answer_of(engine)
    expected = 7.0 if b"Retry-After" in answer else None
    assert raised.value.retry_after_s == expected


async def test_text_from_before_a_lost_connection_is_kept() -> None:
    beginning = sse(delta("Hello"))[: -len(chunked(b"data: [DONE]\n\n") + chunked(b""))]
    async with engine_on(ChatServer(beginning)) as (engine, _):
        generation = engine.generate(await engine.encode("auto", HELLO), PLAIN)
        received = [await anext(generation), await anext(generation)]
        with pytest.raises(EngineLost):
            await anext(generation)
    assert text_of(received) == "Hello"


async def test_closing_a_generation_closes_the_connection() -> None:
    fake = ChatServer(b"")

    async def go_on(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != CHAT:
            return await fake(request, writer)
        writer.write(STREAM_HEAD + chunked(b"data: %s\n\n" % msgspec.json.encode(delta("word"))))
        await asyncio.Event().wait()
        return None

    async with engine_on(go_on) as (engine, server):
        prompt = await engine.encode("auto", HELLO)
        async with aclosing(engine.generate(prompt, PLAIN)) as generation:
            async for step in generation:
                if isinstance(step, Generated):
                    assert engine.status().num_busy_slots == 1
                    break
        await server.client_left.wait()
        assert engine.status().num_busy_slots == 0


async def test_a_rejected_key_fails_at_once() -> None:
    async def refuse(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"", "401 Unauthorized"))

    async with engine_on(refuse) as (engine, _):
        with pytest.raises(EngineDown, match="refuses hitsend's key"):
            await engine.resolve("auto")
        assert (engine.status().state, await engine.models()) == ("down", ())


async def test_a_missing_server_fails_after_the_wait() -> None:
    async with serving(ChatServer(b"")) as server:
        url = server.url
    engine = RemoteEngine(Settings(engine_url=url, engine_wait_s=0.5))
    await engine.start()
    with pytest.raises(EngineDown, match="cannot be reached"):
        await engine.resolve("auto")
    await engine.close()


async def test_a_server_that_comes_up_while_waiting_is_used() -> None:
    is_up = asyncio.Event()
    fake = ChatServer(b"")

    async def start_late(request: Request, writer: asyncio.StreamWriter) -> None:
        if is_up.is_set():
            return await fake(request, writer)
        is_up.set()
        writer.write(whole(b"", "503 Unavailable"))
        return None

    async with serving(start_late) as server, asyncio.timeout(20):
        engine = RemoteEngine(Settings(engine_url=server.url))
        await engine.start()
        assert (await engine.resolve("auto")).name == "first"
        await engine.close()


def test_without_an_address_the_error_names_the_setting() -> None:
    with pytest.raises(BadSetting, match="HITSEND_ENGINE_URL"):
        RemoteEngine(Settings())


async def test_a_server_without_a_model_list_uses_the_configured_name() -> None:
    async def only_chat(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(b"", "404 Not Found"))

    async with engine_on(only_chat, model="mine") as (engine, _):
        assert (await engine.resolve("auto")).name == "mine"


async def test_idle_generation_returns_the_text() -> None:
    answer = ChatServer(sse(delta("Hel"), delta("lo"), delta(finish="stop"), USAGE))
    async with engine_on(answer) as (engine, _):
        assert await engine.generate_when_idle(await engine.encode("auto", HELLO), PLAIN) == "Hello"
        assert engine.status().num_busy_slots == 0


async def test_an_answer_preempts_idle_generation() -> None:
    fake, is_asked = ChatServer(sse(delta("Hello"), delta(finish="stop"), USAGE)), asyncio.Event()

    async def silent_at_first(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == CHAT and not is_asked.is_set():
            is_asked.set()
            await asyncio.Event().wait()
        await fake(request, writer)

    async with engine_on(silent_at_first) as (engine, server):
        prompt = await engine.encode("auto", HELLO)
        idle = asyncio.create_task(engine.generate_when_idle(prompt, PLAIN))
        await is_asked.wait()
        assert text_of(await answer_of(engine)) == "Hello"
        with pytest.raises(Preempted):
            await idle
        await server.client_left.wait()


async def test_prefill_does_nothing_on_a_chat_server() -> None:
    async with engine_on(ChatServer(b"")) as (engine, _):
        assert await engine.prefill(await engine.encode("auto", HELLO)) == PrefillResult()


async def test_a_server_that_sends_no_token_is_lost_after_the_shorter_limit() -> None:
    fake = ChatServer(b"")

    async def say_only_who(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != CHAT:
            return await fake(request, writer)
        role = msgspec.json.encode(delta("", role="assistant"))
        writer.write(STREAM_HEAD + chunked(b"data: %s\n\n" % role))
        await asyncio.Event().wait()
        return None

    async with serving(say_only_who) as server, asyncio.timeout(10):
        settings = Settings(engine_url=server.url, engine_first_token_s=0.3)
        assert Settings().engine_first_token_s == 60
        engine = RemoteEngine(settings)
        await engine.start()
        with pytest.raises(EngineLost, match=r"silent for 0\.3 s"):
            await answer_of(engine)
        await engine.close()


async def test_the_status_says_how_long_an_answer_may_be_silent() -> None:
    server = SlowServer()
    async with engine_on(server) as (engine, _):
        await engine.resolve("auto")
        assert engine.status().first_token_s == 60
        asked = [asyncio.create_task(answer_of(engine)) for _ in range(2)]
        for _ in asked:
            await server.has_request.acquire()
        assert engine.status().first_token_s == 300, "the server may have queued one of them"
        for _ in asked:
            server.may_answer.release()
        await asyncio.gather(*asked)
