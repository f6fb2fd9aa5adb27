"""Writes the TypeScript types of the wire from the Python values that are encoded.

    web/src/api/events.gen.ts   the events of a turn's log
    web/src/api/wire.gen.ts     frames of streams and sockets, request bodies, responses

With --check it writes nothing and fails when a file is out of date.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, get_args

from msgspec import NODEFAULT
from msgspec import inspect as msgs

from hitsend import events, messages, store
from hitsend.engine import contract
from hitsend.prompts import outcomes
from hitsend.safety import heads, personal_data, policy
from hitsend.safety import help as safety_help
from hitsend.server import latency_stats
from hitsend.server.routes import (
    autocompletions,
    code,
    conversations,
    experiments,
    groups,
    limits,
    mcp_servers,
    mcp_tools,
    memories,
    models,
    prepare,
    prices,
    resume,
    safety,
    sessions_and_keys,
    telemetry,
    tokenize,
    tools,
    users,
)
from hitsend.server.routes import prompts as prompt_routes
from hitsend.store import audit_events, mcp_rows, reviews, rows, safety_schema, screenings
from hitsend.store import prompts as prompt_rows
from hitsend.tools.mcp import server_log
from hitsend.wire import delta, json_patch, problem, responses, send, side_events, socket
from hitsend.wire.message import WireMessage

API = Path(__file__).parent.parent / "web" / "src" / "api"

HEADER = "// Written by `make generate` from the Python values that are encoded. Do not edit.\n"

Names: TypeAlias = Mapping[str, object]
"""TypeScript names, each with its struct or union. Other structs keep their Python name."""
Choices: TypeAlias = Mapping[str, tuple[str, ...]]
"""Literals with a TypeScript name; others are written in place."""


def by_name(*structs: type) -> dict[str, type]:
    """Structs that TypeScript calls what Python does."""
    return {struct.__name__: struct for struct in structs}


EVENTS: Names = {"Event": events.AnyEvent, "Stamped": events.Stamped}

EVENT_CHOICES: Choices = {
    "Action": get_args(events.Action),
    "Ending": get_args(events.Ending),
    "FormAction": get_args(messages.FormAction),
    "PersonalDataKind": get_args(personal_data.DataKind),
    "Role": get_args(messages.Role),
    "SafetyOutcome": get_args(policy.Outcome),
    "Source": get_args(messages.Source),
}
WIRE_CHOICES: Choices = {
    "Audience": get_args(mcp_rows.Audience),
    "CallOutcome": get_args(mcp_rows.CallOutcome),
    "LimitScope": get_args(store.LimitScope),
    "Measure": get_args(outcomes.Measure),
    "McpCondition": get_args(responses.McpCondition),
    "Op": get_args(json_patch.Op),
    "Reason": get_args(messages.Reason),
    "SafetyHead": heads.HEADS,
    "ReviewDecision": get_args(safety_schema.Decision),
    "ReviewCause": get_args(safety_schema.ReviewCause),
    "SafetyAction": get_args(policy.Action),
    "SafetyConcern": policy.CONCERNS,
    "Strength": get_args(contract.Strength),
}

CONSTANTS = {"ROOT": send.ROOT, "SUBPROTOCOL": socket.PROTOCOL}

RESPONSES: Names = {
    **{
        name: struct
        for name, struct in vars(responses).items()
        if isinstance(struct, type) and struct.__module__ == responses.__name__
    },
    **by_name(
        autocompletions.Completions,
        code.CodePrinted,
        code.CodeResult,
        delta.Carry,
        delta.Delta,
        experiments.ExperimentReport,
        groups.AllFeatures,
        latency_stats.TimingSummary,
        limits.LimitList,
        models.ModelList,
        models.Status,
        prepare.PrewarmReply,
        prices.PriceList,
        problem.ErrorBody,
        prompt_routes.CreatedVersion,
        prompt_routes.RenderedPrompt,
        prompt_rows.PromptVersion,
        socket.CommandError,
        socket.ConnectReply,
        socket.SubscribeReply,
        mcp_rows.McpCall,
        reviews.OwnReview,
        reviews.Review,
        reviews.ReviewWithContext,
        safety.OpenReviews,
        safety.SafetyState,
        safety.TriedResult,
        safety_help.Help,
        screenings.OutcomeCount,
        server_log.LogLine,
        store.ApiKey,
        store.AuditEntry,
        store.Folder,
        store.Group,
        store.Invite,
        store.Limit,
        store.Price,
        store.Profile,
        store.Reset,
        telemetry.LatencyReport,
        tokenize.Tokenized,
        tools.Features,
        rows.ToolPermission,
    ),
    "AuditEvent": audit_events.AnyAuditEvent,
    "Memory": memories.MemoryView,
    "MemoryPage": memories.MemoryPageView,
    "Message": WireMessage,
    "Model": models.ListedModel,
    "News": socket.News,
    "Prompt": prompt_routes.PromptLine,
    "ServerFrame": socket.AnyFrame,
    "SafetyPolicy": policy.Policy,
    "SideEvent": side_events.SideEvent,
}

REQUESTS: Names = {
    **by_name(
        autocompletions.AutocompleteBody,
        conversations.ConversationChange,
        latency_stats.PageError,
        latency_stats.PageLatency,
        prices.NewPrice,
        prompt_routes.PromptChoice,
        mcp_servers.CommandChange,
        mcp_servers.NewCommand,
        mcp_servers.NewServer,
        mcp_servers.ServerChange,
        mcp_tools.ToolChange,
        resume.ResumeBody,
        send.SendBody,
        sessions_and_keys.NewKey,
        users.PersonChange,
    ),
    "Command": socket.AnyCommand,
}


def main() -> int:
    files = {"events.gen.ts": generate_events(), "wire.gen.ts": generate_wire()}
    if "--check" not in sys.argv[1:]:
        for name, text in files.items():
            (API / name).write_text(text)
        return 0
    stale = [name for name, text in files.items() if (API / name).read_text() != text]
    for name in stale:
        print(f"{name} is out of date: run `make generate`.", file=sys.stderr)
    return 1 if stale else 0


def generate_events() -> str:
    module = Module(EVENT_CHOICES)
    module.declare(EVENTS)
    return module.render()


def generate_wire() -> str:
    shared = Module(EVENT_CHOICES)
    shared.declare(EVENTS)
    module = Module(WIRE_CHOICES, shared)
    module.define(CONSTANTS)
    module.declare(RESPONSES)
    module.declare(REQUESTS, is_request=True)
    return module.render()


class Module:
    """One TypeScript file. It imports the types that `shared` declares and it uses."""

    def __init__(self, choices: Choices, shared: "Module | None" = None) -> None:
        self.choices = choices
        self.names: dict[type, str] = {}
        self._shared = shared
        self._declared = {
            name: f"export type {name} = {_either(choices[name])};\n" for name in choices
        }
        self._unions: dict[frozenset[type], str] = {}
        self._imports: set[str] = set()
        self._is_request = False

    def define(self, constants: Mapping[str, str]) -> None:
        self._declared |= {
            name: f"export const {name} = '{value}';\n" for name, value in constants.items()
        }

    def declare(self, names: Names, *, is_request: bool = False) -> None:
        """Declares these types and all they refer to. A request may omit fields with a default."""
        self._is_request = is_request
        kinds = {name: msgs.type_info(kind) for name, kind in names.items()}
        structs = {name: kind for name, kind in kinds.items() if isinstance(kind, msgs.StructType)}
        unions = {name: kind for name, kind in kinds.items() if isinstance(kind, msgs.UnionType)}
        self.names |= {kind.cls: name for name, kind in structs.items()}
        self._unions |= {_arms(kind): name for name, kind in unions.items()}
        for name, union in unions.items():
            arms = "\n\t| ".join(self._ts(kind) for kind in union.types)
            self._declared[name] = f"export type {name} =\n\t| {arms};\n"
        while missing := {
            cls: name for cls, name in self.names.items() if name not in self._declared
        }:
            for cls, name in missing.items():
                self._declared[name] = self._declaration(name, cls)

    def render(self) -> str:
        imports = f"import type {{ {', '.join(sorted(self._imports))} }} from './events.gen';\n"
        declared = [self._declared[name] for name in sorted(self._declared)]
        return "\n".join([HEADER, *([imports] if self._imports else []), *declared])

    def _declaration(self, name: str, cls: type) -> str:
        struct = msgs.type_info(cls)
        assert isinstance(struct, msgs.StructType)
        if struct.array_like:
            members = ", ".join(f"{_camel(f.name)}: {self._ts(f.type)}" for f in struct.fields)
            return f"export type {name} = [{members}];\n"
        lines = [self._member(struct, field) for field in struct.fields]
        if struct.tag_field is not None:
            lines.insert(0, f"\t{struct.tag_field}: '{struct.tag}';")
        return "\n".join([f"export interface {name} {{", *lines, "}\n"])

    def _member(self, struct: msgs.StructType, field: msgs.Field) -> str:
        kind, omits_default = self._ts(field.type), struct.cls.__struct_config__.omit_defaults
        has_default = (field.default, field.default_factory) != (NODEFAULT, NODEFAULT)
        if omits_default and field.default is None and not self._is_request:
            kind = kind.removesuffix(" | null")
        is_optional = not field.required and (self._is_request or omits_default or not has_default)
        return f"\t{field.encode_name}{'?' if is_optional else ''}: {kind};"

    def _ts(self, kind: msgs.Type) -> str:
        match kind:
            case msgs.StrType() | msgs.BytesType():
                return "string"
            case msgs.IntType() | msgs.FloatType():
                return "number"
            case msgs.BoolType():
                return "boolean"
            case msgs.NoneType():
                return "null"
            case msgs.AnyType() | msgs.RawType() | msgs.CustomType():
                return "unknown"
            case msgs.LiteralType(values=values):
                return self._choice(values)
            case msgs.Metadata(type=inner):
                return self._ts(inner)
            case msgs.VarTupleType(item_type=item) | msgs.ListType(item_type=item):
                return _array_of(self._ts(item))
            case msgs.TupleType(item_types=items):
                return f"[{', '.join(self._ts(item) for item in items)}]"
            case msgs.DictType(key_type=key, value_type=value):
                record = f"Record<{self._ts(key)}, {self._ts(value)}>"
                return f"Partial<{record}>" if _words(key) else record
            case msgs.UnionType() if words := _words(kind):
                return self._choice(words)
            case msgs.UnionType(types=kinds):
                named = self._unions.get(_arms(kind))
                return named or " | ".join(self._ts(one) for one in kinds)
            case msgs.StructType():
                return self._reference(kind)
            case _:
                raise TypeError(f"There is no TypeScript for {kind!r}.")

    def _choice(self, values: tuple[object, ...]) -> str:
        if self._shared:
            for name, words in self._shared.choices.items():
                if set(words) == set(values):
                    self._imports.add(name)
                    return name
        named = (name for name, words in self.choices.items() if set(words) == set(values))
        return next(named, None) or _either(values)

    def _reference(self, kind: msgs.StructType) -> str:
        if self._shared and kind.cls in self._shared.names:
            name = self._shared.names[kind.cls]
            self._imports.add(name)
            can_be_empty = all(not field.required for field in kind.fields)
            return f"Partial<{name}>" if self._is_request and can_be_empty else name
        name = self.names.setdefault(kind.cls, kind.cls.__name__)
        assert list(self.names.values()).count(name) == 1, f"Two structs are called {name}."
        return name


def _arms(union: msgs.UnionType) -> frozenset[type]:
    """The structs of a union; empty unless it has nothing else."""
    structs = [kind.cls for kind in union.types if isinstance(kind, msgs.StructType)]
    return frozenset(structs if len(structs) == len(union.types) else ())


def _words(kind: msgs.Type) -> tuple[object, ...]:
    """The words of a literal, or of a union of literals; empty for any other type."""
    kinds = kind.types if isinstance(kind, msgs.UnionType) else (kind,)
    literals = [one for one in kinds if isinstance(one, msgs.LiteralType)]
    return (
        tuple(word for one in literals for word in one.values)
        if len(literals) == len(kinds)
        else ()
    )


def _either(values: tuple[object, ...]) -> str:
    return " | ".join(f"'{value}'" for value in values)


def _array_of(item: str) -> str:
    return f"{item}[]" if re.fullmatch(r"\w+", item) else f"({item})[]"


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


if __name__ == "__main__":
    sys.exit(main())
