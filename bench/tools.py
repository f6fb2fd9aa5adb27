"""How often a model calls the right tool with the right arguments: through hitsend, and through the
engine's own `tools` parameter.

    python -m bench.tools [--set test] [--kinds none one two row] [--every 2] [--ours] [--alone]

The tools are in tools.toml, the prompts in tools_test.toml and tools_tuning.toml, which say what
counts as right. No tool runs: a call gets the result that its prompt gives. Greedy decoding.
"""

import argparse
import ast
import asyncio
import json
import math
import operator
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import uvloop

from bench import launch, machine
from bench.load import Target
from bench.machine import Figure

MODEL = "qwen2.5-coder-1.5b"
NUM_MAX_TOKENS = 160
NUM_NONE_TOKENS = 40
"""Where no call is needed, the beginning of an answer is enough."""
WINDOW_TOKENS = 8192
INSTRUCTIONS = "You are a helpful assistant. Answer in Markdown, clearly and briefly."
HERE = Path(__file__).parent

Kind = Literal["none", "one", "two", "row"]
KINDS: tuple[Kind, ...] = ("none", "one", "two", "row")
TITLES: Mapping[Kind, str] = {
    "none": "no call needed",
    "one": "one call",
    "two": "two at once",
    "row": "two in a row",
}
LIMITS: Mapping[Kind, float] = {"none": 90, "one": 85, "row": 50}
"""The share of right answers that is asked for, in percent."""

Arguments: TypeAlias = Mapping[str, Any]
Tools: TypeAlias = Mapping[str, "BenchTool"]


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: Arguments
    """What was written, or in a prompt what counts as right."""


@dataclass(frozen=True)
class BenchTool:
    name: str
    definition: dict[str, Any]
    """As OpenAI's API has it."""
    defaults: Arguments
    free: frozenset[str]
    """Arguments that may be left out or chosen freely."""


@dataclass(frozen=True)
class BenchPrompt:
    kind: Kind
    ask: str
    right: tuple[tuple[Call, ...], ...]
    """Any of these is right."""
    results: tuple[str, ...] = ()
    """Of the calls before the last."""


@dataclass(frozen=True)
class Reply:
    """One message of a model."""

    calls: tuple[Call, ...]
    """Those that the server recognised."""
    text: str = ""
    is_cut: bool = False

    @property
    def as_written(self) -> "Reply":
        """The same with the calls that stand in the text, as a host that looks for them has it."""
        if self.calls:
            return self
        return Reply(tuple(find_written_calls(self.text)), self.text, self.is_cut)


CALL_BEGINS = re.compile(r'\{\s*"name"\s*:\s*"([^"]+)"\s*,\s*"(?:arguments|parameters)"\s*:\s*')


def find_written_calls(text: str) -> Iterator[Call]:
    """Yields the calls that are written as JSON: fenced, bare or between tags of any kind. One that
    is malformed or cut has no arguments."""
    decoder = json.JSONDecoder(strict=False)
    for begun in CALL_BEGINS.finditer(text):
        try:
            arguments, _ = decoder.raw_decode(text, begun.end())
        except ValueError:
            arguments = {}
        yield Call(begun[1], arguments if isinstance(arguments, dict) else {})


def read_tools() -> dict[str, BenchTool]:
    listed = tomllib.loads((HERE / "tools.toml").read_text())["tools"]
    return {tool["name"]: _build_tool(tool) for tool in listed}


def _build_tool(tool: dict[str, Any]) -> BenchTool:
    properties = tool["properties"]
    parameters = {
        "type": "object",
        "properties": properties,
        "required": tool["required"],
        "additionalProperties": False,
    }
    function = {
        "name": tool["name"],
        "description": tool["description"].strip(),
        "parameters": parameters,
    }
    defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
    return BenchTool(
        tool["name"],
        {"type": "function", "function": function},
        defaults,
        frozenset(tool.get("free", ())),
    )


def read_prompts(name: str) -> list[BenchPrompt]:
    tables = tomllib.loads((HERE / f"tools_{name}.toml").read_text())
    return [_build_prompt(kind, one) for kind in KINDS for one in tables[kind]]


def _build_prompt(kind: Kind, table: dict[str, Any]) -> BenchPrompt:
    right = [table[name] for name in ("calls", "also") if name in table]
    return BenchPrompt(
        kind,
        table["ask"],
        tuple(tuple(map(_build_call, calls)) for calls in right),
        tuple(table.get("results", ())),
    )


def _build_call(table: dict[str, Any]) -> Call:
    return Call(table["tool"], {name: one for name, one in table.items() if name != "tool"})


# What counts as right.


def find_problem(prompt: BenchPrompt, replies: Sequence[Reply], tools: Tools) -> str:
    """Returns what is wrong with the replies, or nothing. Each reply answers one round."""
    if prompt.kind == "row":
        rounds = zip(prompt.right[0], replies, strict=False)
        problems = [_find_problem([right], reply, tools) for right, reply in rounds]
        return next((f"round {n}: {one}" for n, one in enumerate(problems, 1) if one), "")
    found = [_find_problem(right, replies[0], tools) for right in prompt.right or ((),)]
    return "" if "" in found else found[0]


def _find_problem(right: Sequence[Call], reply: Reply, tools: Tools) -> str:
    if not right:
        return "" if reply.text.strip() and not reply.calls else "needless call"
    if not reply.calls:
        return "call cut or malformed" if reply.is_cut else "no call"
    left = list(reply.calls)
    for wanted in right:
        named = [call for call in left if call.tool == wanted.tool]
        matching = [call for call in named if has_right_arguments(call, wanted, tools)]
        if not matching:
            if named:
                return "wrong arguments"
            return "call missing" if len(reply.calls) < len(right) else "wrong tool"
        left.remove(matching[0])
    return "one call too many" if left else ""


def has_right_arguments(call: Call, wanted: Call, tools: Tools) -> bool:
    """Arguments that the prompt does not name have to be free, empty, or the default."""
    tool = tools.get(call.tool)
    if tool is None or not all(
        name in call.arguments and matches(call.arguments[name], matcher)
        for name, matcher in wanted.arguments.items()
    ):
        return False
    others = {name: one for name, one in call.arguments.items() if name not in wanted.arguments}
    return all(
        name in tool.free or one in ("", None, [], {}) or one == tool.defaults.get(name)
        for name, one in others.items()
    )


def matches(value: object, matcher: object) -> bool:
    """tools_test.toml says how a matcher is written."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    match matcher:
        case list():
            return any(matches(value, one) for one in matcher)
        case int() | float():
            return _read_number(value) == matcher
        case str() if matcher.startswith("= "):
            number = evaluate(text)
            return number is not None and math.isclose(number, float(matcher[2:]), rel_tol=1e-6)
        case str() if matcher.startswith("/"):
            return re.search(matcher.strip("/"), text, re.IGNORECASE | re.DOTALL) is not None
        case _:
            return all(word in text.casefold() for word in str(matcher).split())


def _read_number(value: object) -> float | None:
    try:
        return float(cast(Any, value))
    except (TypeError, ValueError):
        return None


OPERATORS: Mapping[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def evaluate(expression: str) -> float | None:
    """Returns the value of an expression, or None if it is not one that the prompts need."""
    text = expression.casefold().replace(",", "").replace("^", "**").replace("×", "*")
    text = re.sub(r"[$€£=?]", "", text)
    text = re.sub(r"([0-9.]+) ?% of ", r"\1 / 100 * ", text)
    text = re.sub(r"([0-9.]+) ?%", r"(\1 / 100)", text)
    try:
        return _value_of(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError):
        return None


def _value_of(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left, operation, right) if type(operation) in OPERATORS:
            return float(OPERATORS[type(operation)](_value_of(left), _value_of(right)))
        case ast.UnaryOp(operation, operand) if type(operation) in OPERATORS:
            return float(OPERATORS[type(operation)](_value_of(operand)))
        case ast.Call(func=ast.Name(id="sqrt"), args=[one]):
            return math.sqrt(_value_of(one))
        case _:
            raise ValueError


# Asking.


@dataclass(frozen=True)
class Side:
    """A server that is asked: hitsend, or the engine alone."""

    name: str
    target: Target


@dataclass(frozen=True)
class Row:
    """One prompt on one side."""

    side: str
    kind: Kind
    ask: str
    problem: str
    problem_as_written: str
    """Counts calls that the server did not recognise, too."""
    calls: tuple[tuple[str, ...], ...]
    """Of each round, as the model wrote them."""
    num_prompt_tokens: int
    seconds: float


async def ask(side: Side, prompt: BenchPrompt, tools: Tools) -> Row:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": prompt.ask},
    ]
    replies: list[Reply] = []
    started_at = time.perf_counter()
    num_prompt_tokens = 0
    while True:
        num_max_tokens = NUM_NONE_TOKENS if prompt.kind == "none" else NUM_MAX_TOKENS
        reply, num_prompt_tokens = await complete(side.target, messages, tools, num_max_tokens)
        replies.append(reply)
        written = [one.as_written for one in replies]
        is_over = len(replies) > len(prompt.results) or find_problem(prompt, written, tools)
        if is_over:
            break
        messages += build_round(written[-1].calls, prompt.results[0])
    return Row(
        side.name,
        prompt.kind,
        prompt.ask,
        find_problem(prompt, replies, tools),
        find_problem(prompt, written, tools),
        tuple(tuple(f"{one.tool} {json.dumps(one.arguments)}" for one in r.calls) for r in written),
        num_prompt_tokens,
        round(time.perf_counter() - started_at, 1),
    )


def build_round(calls: Sequence[Call], result: str) -> Iterator[dict[str, Any]]:
    """Yields the messages of a round: the calls, each with the result."""
    functions = [{"name": one.tool, "arguments": json.dumps(one.arguments)} for one in calls]
    listed = [
        {"id": f"call_{n}", "type": "function", "function": function}
        for n, function in enumerate(functions)
    ]
    yield {"role": "assistant", "content": "", "tool_calls": listed}
    for call in listed:
        yield {"role": "tool", "tool_call_id": call["id"], "content": result}


async def complete(
    target: Target, messages: Sequence[dict[str, Any]], tools: Tools, num_max_tokens: int
) -> tuple[Reply, int]:
    body = {
        "model": target.model,
        "messages": messages,
        "tools": [tool.definition for tool in tools.values()],
        "temperature": 0,
        "max_tokens": num_max_tokens,
    }
    headers = {"authorization": f"Bearer {target.key}"}
    _, done = await launch.call(target.url, "POST", target.path, body, headers)
    message = done["choices"][0]["message"]
    calls = tuple(map(_read_call, message.get("tool_calls") or ()))
    is_cut = done["choices"][0]["finish_reason"] == "length"
    reply = Reply(calls, message.get("content") or "", is_cut)
    return reply, done["usage"]["prompt_tokens"]


def _read_call(call: dict[str, Any]) -> Call:
    try:
        arguments = json.loads(call["function"]["arguments"])
    except ValueError:
        arguments = {}
    return Call(call["function"]["name"], arguments if isinstance(arguments, dict) else {})


async def ask_all(
    side: Side, prompts: Sequence[BenchPrompt], tools: Tools, num_streams: int
) -> list[Row]:
    gate = asyncio.Semaphore(num_streams)

    async def ask_one(prompt: BenchPrompt) -> Row:
        async with gate:
            row = await ask(side, prompt, tools)
        told = f"{row.problem or 'right':22} {row.problem_as_written or 'right':22} {row.ask}"
        print(f"{side.name:8} {row.seconds:>5} s  {told}", flush=True)
        if row.problem:
            print(f"{'':18}{row.calls}", flush=True)
        return row

    return list(await asyncio.gather(*map(ask_one, prompts)))


# The report.


def count_right(rows: Sequence[Row], kind: Kind) -> tuple[int, int]:
    found = [row for row in rows if row.kind == kind]
    return sum(not row.problem for row in found), len(found)


def format_side(name: str, rows: Sequence[Row]) -> Iterator[str]:
    num_tokens = min((row.num_prompt_tokens for row in rows), default=0)
    yield f"\n{name}: prompts of {num_tokens:,} tokens and more"
    for kind in KINDS:
        num_right, num = count_right(rows, kind)
        found = [row.problem_as_written for row in rows if row.kind == kind]
        problems = Counter(one for one in found if one)
        listed = ", ".join(f"{one} {count}" for one, count in problems.most_common())
        if num:
            written = f"as written {num - sum(problems.values()):>3} of {num:<3}"
            yield f"  {TITLES[kind]:>15}  {num_right:>3} of {num:<3}  {written}  {listed}"


def build_figures(rows: Sequence[Row]) -> Iterator[Figure]:
    for kind, limit in LIMITS.items():
        num_right, num = count_right(rows, kind)
        if num:
            name = f"right, {TITLES[kind]}, percent"
            yield Figure(name, round(100 * num_right / num, 1), limit, is_floor=True)


async def run(args: argparse.Namespace, weights: Path) -> list[Row]:
    tools = read_tools()
    prompts = [
        prompt
        for kind in args.kinds
        for prompt in [one for one in read_prompts(args.set) if one.kind == kind][
            args.first : args.limit : args.every
        ]
    ]
    rows: list[Row] = []
    settings = {
        "model": MODEL,
        "num_slots": str(args.streams),
        "num_window_tokens": str(WINDOW_TOKENS),
    }
    if args.ours:
        with launch.hitsend(["--engine", "llama"], settings) as running:
            await launch.until_healthy(running)
            key = await launch.make_key(running.url)
            target = Target(running.url, "/v1/chat/completions", "openai", key, MODEL)
            rows += await ask_all(Side("hitsend", target), prompts, tools, args.streams)
    if args.alone:
        with launch.llama_server(weights, args.streams, WINDOW_TOKENS * args.streams) as running:
            await launch.until_healthy(running, "/health", limit_s=120)
            target = Target(running.url, "/v1/chat/completions", "openai", "", MODEL)
            rows += await ask_all(Side("engine", target), prompts, tools, args.streams)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--set", choices=("test", "tuning", "fitting"), default="test")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--limit", type=int, default=None, help="so many prompts of each kind")
    parser.add_argument("--every", type=int, default=1, help="each second, or third prompt")
    parser.add_argument("--first", type=int, default=0, help="begin with this prompt of each kind")
    parser.add_argument("--streams", type=int, default=1, help="prompts at once")
    parser.add_argument("--ours", action="store_true", help="only through hitsend")
    parser.add_argument("--alone", action="store_true", help="only the engine by itself")
    args = parser.parse_args()
    if not args.ours and not args.alone:
        args.ours = args.alone = True
    rows = uvloop.run(run(args, launch.fetch_weights(MODEL)))
    sides = {name: [row for row in rows if row.side == name] for name in ("hitsend", "engine")}
    for name, found in sides.items():
        if found:
            print("\n".join(format_side(name, found)))
    figures = list(build_figures(sides["hitsend"]))
    machine.report(f"tools_{args.set}", figures, [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
