"""Builds grammars (GBNF) under which llama.cpp writes a tool call: first its name, then its
arguments.

A grammar follows the schema as far as a grammar can: names, types, enums, lists and nested
objects. What it cannot say (ranges, patterns, lengths) is checked when the tool runs. It writes
JSON the way models are trained to, on one line, so no answer can run away in whitespace.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from hitsend.engine.tool_listing import Schema, read_parameters, read_schema
from hitsend.messages import AnswerRules, Tool

CALL_TAG = "<tool_call>"
MAX_DEPTH, MAX_RULES = 8, 400
"""Beyond them a value may be any JSON."""
COMMON = r"""
string ::= "\"" char* "\""
text ::= "\"" char+ "\""
char ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
integer ::= "-"? ("0" | [1-9] [0-9]{0,14})
number ::= integer ("." [0-9]{1,14})?
boolean ::= "true" | "false"
null ::= "null"
value ::= string | number | boolean | null | list | object
list ::= "[" (value (", " value)*)? "]"
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
"""
SIMPLE = ("string", "integer", "number", "boolean", "null", "object")


def name_grammar(names: Collection[str], before: str = "", *, can_end: bool = False) -> str:
    """Allows `before` and one of the names with its closing quote, or nothing."""
    rule = f"{quote(before)} ({' | '.join(quote(name + chr(34)) for name in names)})"
    return f"root ::= ({rule})?" if can_end else f"root ::= {rule}"


def arguments_grammar(tool: Tool) -> str:
    """Allows the arguments of a call, after their colon, and the call's closing brace."""
    rules = _Rules(read_schema(tool))
    names = [parameter.name for parameter in read_parameters(tool)]
    arguments = rules.object(names, rules.root)
    lines = [f'root ::= " " {arguments} "}}"', *rules.lines]
    return "\n".join(lines) + COMMON


def strict_calls_grammar(tools: Sequence[Tool], rules: AnswerRules) -> str | None:
    """Allows calls between tags, one or several. None if no tool is strict: then a model writes as
    it learned to."""
    if not any(tool.is_strict for tool in tools):
        return None
    lines = list[str]()
    for n, tool in enumerate(tools):
        own = _Rules(read_schema(tool) if tool.is_strict else {}, f"t{n}")
        names = [parameter.name for parameter in read_parameters(tool)]
        arguments = own.object(names, own.root) if tool.is_strict else "object"
        beginning = quote(f'{{"name": {_json(tool.name)}, "arguments": ')
        lines += [f't{n} ::= {beginning} {arguments} "}}"', *own.lines]
    lines.append(f"choice ::= {' | '.join(f't{n}' for n in range(len(tools)))}")
    lines.append(f'call ::= {quote(CALL_TAG)} space choice space "</tool_call>" space')
    lines.append(r"space ::= [ \n]{0,2}")
    root = "call+" if rules.has_parallel_calls else "call"
    return "\n".join((f"root ::= {root}", *lines)) + COMMON


def quote(text: str) -> str:
    """Returns a GBNF literal."""
    return '"' + "".join(_escape(char) for char in text) + '"'


def _escape(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    if char.isprintable() and ord(char) < 0x7F:
        return char
    return f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\U{ord(char):08X}"


class _Rules:
    """The rules of one schema, each on a line. Deep or large ones end in `value`."""

    def __init__(self, root: Schema, prefix: str = "") -> None:
        self.lines: list[str] = []
        self.root = root
        self._prefix = prefix
        self._definitions: dict[str, str] = {}
        self._depth = 0

    def object(self, names: Sequence[str], schema: Schema) -> str:
        """Required members come first: after them any others, in order. A required string says
        something."""
        members = _mapping(schema.get("properties"))
        required = [name for name in names if name in _sequence(schema.get("required"))]
        optional = [name for name in names if name not in required]
        rules = {name: self.value(_mapping(members[name])) for name in names}
        rules |= {name: "text" for name in required if rules[name] == "string"}
        pairs = {name: f"{quote(_json(name) + ': ')} {rules[name]}" for name in names}
        rest = [f'(", " {pairs[name]})?' for name in optional]
        if required:
            body = " ".join([' ", " '.join(pairs[name] for name in required), *rest])
        else:
            starts = (" ".join([pairs[name], *rest[n + 1 :]]) for n, name in enumerate(optional))
            body = f"({' | '.join(starts)})?" if optional else ""
        return f'"{{" {body} "}}"'

    def value(self, schema: Schema) -> str:
        """Returns the name of a rule for values of the schema."""
        if self._depth >= MAX_DEPTH or len(self.lines) >= MAX_RULES:
            return "value"
        self._depth += 1
        rule = self._value(schema)
        self._depth -= 1
        return rule

    def _value(self, schema: Schema) -> str:
        if isinstance(name := schema.get("$ref"), str):
            return self._reference(name)
        if "const" in schema:
            return self._add(quote(_json(schema["const"])))
        if values := _sequence(schema.get("enum")):
            return self._add(" | ".join(quote(_json(value)) for value in values))
        for key in ("anyOf", "oneOf"):
            if options := _sequence(schema.get(key)):
                return self._add(" | ".join(self.value(_mapping(one)) for one in options))
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return self._add(" | ".join(self.value({**schema, "type": one}) for one in kinds))
        if kinds == "array":
            item = self.value(_mapping(schema.get("items")))
            return self._add(f'"[" ({item} (", " {item})*)? "]"')
        if kinds == "object" and (members := _mapping(schema.get("properties"))):
            return self._add(self.object(list(members), schema))
        return kinds if isinstance(kinds, str) and kinds in SIMPLE else "value"

    def _reference(self, name: str) -> str:
        """Definitions may contain themselves: their rule has a name before it has a body."""
        definition = _mapping(_mapping(self.root.get("$defs")).get(name.removeprefix("#/$defs/")))
        if not definition:
            return "value"
        if name not in self._definitions:
            self._definitions[name] = rule = f"{self._prefix}d{len(self._definitions)}"
            depth, self._depth = self._depth, 0
            self.lines.append(f"{rule} ::= {self.value(definition)}")
            self._depth = depth
        return self._definitions[name]

    def _add(self, body: str) -> str:
        rule = f"{self._prefix}r{len(self.lines)}"
        self.lines.append(f"{rule} ::= {body}")
        return rule


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
