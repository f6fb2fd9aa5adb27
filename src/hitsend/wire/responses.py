"""JSON responses of /backend-api that are no row of the store. Pure values.

The server fills them, the Python client decodes them, and scripts/gen_events.py writes their
TypeScript.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from hitsend.events import Section, Stamped
from hitsend.import_export.imported_conversation import LeftOut, PartsLeftOut, Source
from hitsend.wire.message import WireMessage

SignInMethod: TypeAlias = Literal["authenticator", "passkey", "recovery_code"]
McpCondition: TypeAlias = Literal[
    "off", "unused", "connecting", "connected", "no_tools", "sign_in", "failed"
]


class Items(msgspec.Struct, frozen=True):
    """A whole list. The route says of what."""

    items: Sequence[object]


class FirstAccountCheck(msgspec.Struct, frozen=True):
    needs_first_account: bool
    needs_setup_token: bool
    """The first account is made only with the token that the server printed at its start."""
    is_database_lost: bool
    """There were accounts, and the database is missing or empty."""
    version: str
    """The server's."""


class User(msgspec.Struct, frozen=True):
    id: str
    name: str
    role: Literal["admin", "reviewer", "member"]


class Me(msgspec.Struct, frozen=True):
    user: User
    csrf_token: str | None = None
    """None for an API key: only browsers need one."""
    needs_second_factor: bool = False
    """The session can do nothing until a second factor is set up."""


class SecondStep(msgspec.Struct, frozen=True, kw_only=True):
    """The password was right, and a second factor is needed."""

    methods: Sequence[SignInMethod]
    passkey_options: Mapping[str, object] | None
    """For `navigator.credentials.get`."""
    other_hosts: Sequence[str]
    """Host names under which the person has passkeys that do not work here."""


class AuthenticatorSetup(msgspec.Struct, frozen=True, kw_only=True):
    secret: str
    qr_code: str
    """An image, as a `data:` address."""
    token: str
    """Has to come back with the code that confirms."""


class PasskeySetup(msgspec.Struct, frozen=True, kw_only=True):
    options: Mapping[str, object]
    """For `navigator.credentials.create`."""
    token: str


class RecoveryCodes(msgspec.Struct, frozen=True):
    recovery_codes: Sequence[str] | None
    """Never shown again. None where those of before stay valid."""


class PasskeyItem(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    host: str
    works_here: bool
    created_at: float
    last_used_at: float | None


class AuthenticatorItem(msgspec.Struct, frozen=True, kw_only=True):
    created_at: float
    last_used_at: float | None


class SecondFactorStatus(msgspec.Struct, frozen=True, kw_only=True):
    authenticator: AuthenticatorItem | None
    passkeys: Sequence[PasskeyItem]
    num_recovery_codes: int
    host: str | None
    """The host name that passkeys are made for, or None where the page cannot have any."""
    is_required: bool


class BrowserSession(msgspec.Struct, frozen=True, kw_only=True):
    """A signed-in browser."""

    id: str
    user_agent: str
    created_at: float
    last_seen_at: float
    is_current: bool


class CreatedKey(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    prefix: str
    label: str
    scopes: tuple[Literal["chat", "read", "memory", "admin"], ...]
    expires_at: float | None
    key: str
    """Never shown again."""


class CreatedInvite(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    role: Literal["admin", "reviewer", "member"]
    expires_at: float
    token: str
    """Never shown again."""
    path: str


class CreatedReset(msgspec.Struct, frozen=True, kw_only=True):
    """A link with which one person can choose a new password."""

    path: str
    """Never shown again."""
    expires_at: float


class ResetCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Whose password a link resets."""

    name: str
    num_keys: int


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """An account in the administrator's list."""

    id: str
    name: str
    role: Literal["admin", "reviewer", "member"]
    create_time: float
    is_disabled: bool
    last_seen_time: float | None
    num_conversations: int
    group_id: str | None
    num_bytes: int
    """Stored for this person."""


class ServerRules(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that the page needs to know."""

    instructions: str
    max_message_chars: int
    max_answer_tokens: int
    num_window_tokens: int
    max_import_bytes: int
    session_days: int
    allow_sharing: bool


class ConversationSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list."""

    id: str
    title: str
    create_time: float
    update_time: float
    is_archived: bool
    is_pinned: bool
    folder_id: str | None
    snippet: str | UnsetType = UNSET
    """A search match, each found word between U+0002 and U+0003."""
    message_id: str | UnsetType = UNSET
    """The message of the snippet."""


class ConversationPage(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[ConversationSummary, ...]
    total: int
    limit: int
    offset: int


class ConversationNode(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    parent: str | None
    children: tuple[str, ...]
    message: WireMessage


class Running(msgspec.Struct, frozen=True):
    """The turn in progress."""

    turn_exchange_id: str
    message_id: str


class ConversationDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with all its branches, in the format of ChatGPT's web API."""

    conversation_id: str
    title: str
    create_time: float
    update_time: float
    current_node: str | None
    is_archived: bool
    is_pinned: bool
    folder_id: str | None
    is_temporary: bool
    """In no list, without memory, and erased after a day."""
    mapping: dict[str, ConversationNode]
    running: Running | None


class TurnLog(msgspec.Struct, frozen=True):
    turn_exchange_id: str
    events: Sequence[Stamped]


class SocketTicket(msgspec.Struct, frozen=True):
    """The address of a WebSocket, which can be opened once."""

    websocket_url: str
    expires_at: float


class ShareLink(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    path: str
    title: str
    conversation_id: str
    create_time: float


class SharedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """What anyone with the link of a share can read."""

    title: str
    create_time: float
    messages: tuple[WireMessage, ...]


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    source: Source
    num_conversations: int
    num_messages: int
    num_already_here: int
    left_out: tuple[LeftOut, ...]
    num_parts_left_out: PartsLeftOut


class ContextPrompt(msgspec.Struct, frozen=True):
    name: str
    version: int
    text: str | None
    """None for readers who are no administrators, and for deleted versions."""


class ContextMemory(msgspec.Struct, frozen=True):
    id: str
    text: str


class ContextSummary(msgspec.Struct, frozen=True):
    id: str
    level: int
    text: str


class ContextExchange(msgspec.Struct, frozen=True):
    message_id: str
    question: str
    answer: str


class MessageContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the model saw before an answer, besides the newest messages."""

    prompts: tuple[ContextPrompt, ...]
    profile: str
    memories: tuple[ContextMemory, ...]
    summaries: tuple[ContextSummary, ...]
    recalled: tuple[ContextExchange, ...]
    starts_at: str | None
    num_dropped_messages: int
    sections: tuple[Section, ...]


class RemainingLimit(msgspec.Struct, frozen=True):
    """Remaining budget of a limit; all None without a limit."""

    limit: int | None = None
    remaining: int | None = None
    reset_ms: int | None = None


class RemainingDayLimit(RemainingLimit, frozen=True):
    reset_at: float | None = None


class RemainingGroupLimit(msgspec.Struct, frozen=True):
    name: str
    tokens_day: RemainingDayLimit


class RemainingLimits(msgspec.Struct, frozen=True, kw_only=True):
    requests: RemainingLimit
    tokens_minute: RemainingLimit
    tokens_day: RemainingDayLimit
    group: RemainingGroupLimit | None


class StorageUse(msgspec.Struct, frozen=True):
    """What the caller's conversations and records take, some seconds after each answer."""

    used_bytes: int
    limit_bytes: int | None


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True):
    num_turns: int
    num_input_tokens: int
    num_cached_tokens: int
    """Part of the input."""
    num_output_tokens: int
    cost: float | None
    """None when a model in it has no price."""


class DayUsage(TokenUsage, frozen=True, kw_only=True):
    day: str
    """In UTC, as `2026-11-15`."""


class ModelUsage(TokenUsage, frozen=True, kw_only=True):
    model: str


class PersonUsage(TokenUsage, frozen=True, kw_only=True):
    user_id: str
    name: str | None
    """None after the account was deleted."""


class GroupUsage(TokenUsage, frozen=True, kw_only=True):
    group_id: str
    name: str | None


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """Usage of the last days; every day has its line, today is the last."""

    currency: str
    days: tuple[DayUsage, ...]
    models: tuple[ModelUsage, ...]
    total: TokenUsage


class SpendingOfEveryone(Spending, frozen=True, kw_only=True):
    """Usage of everyone, for administrators."""

    people: tuple[PersonUsage, ...]
    groups: tuple[GroupUsage, ...]


class TelemetryReply(msgspec.Struct, frozen=True):
    status: Literal["success", "off"] = "success"


class TurnstileRequirement(msgspec.Struct, frozen=True):
    required: bool = False


class ProofOfWork(msgspec.Struct, frozen=True):
    required: bool
    seed: str
    difficulty: str


class ChatRequirements(msgspec.Struct, frozen=True, kw_only=True):
    persona: str
    prepare_token: str
    turnstile: TurnstileRequirement = TurnstileRequirement()
    proofofwork: ProofOfWork
    expire_after: int
    """In seconds."""


class ProofToken(msgspec.Struct, frozen=True, kw_only=True):
    persona: str
    token: str
    expire_after: int
    """In seconds."""
    expire_at: int


class McpStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How it stands with a server, for the person who asks."""

    condition: McpCondition
    problem: str
    retry_in_s: float | None
    version: str
    """Of the protocol, while it is connected."""


class McpToolItem(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    full_name: str
    """What models call it."""
    title: str
    description: str
    schema: str
    is_on: bool
    is_usable: bool
    is_new: bool
    is_missing: bool
    is_read_only: bool
    is_read_only_hint: bool
    problem: str
    """Why it cannot be used."""
    changed_description: str | None
    """What the server says of it now. It is off until somebody confirms the change."""
    changed_schema: str | None
    changed_problem: str
    changed_digest: str | None


class McpServerItem(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    kind: Literal["command", "http"]
    audience: Literal["owner", "everyone", "groups"]
    group_ids: Sequence[str]
    feature: str
    """What turns it on for a message."""
    url: str
    """This and the next four are empty unless the person manages the server."""
    command: Sequence[str]
    environment: Sequence[str]
    """Names of variables. Their values are never shown again."""
    headers: Sequence[str]
    client_id: str
    is_on: bool
    timeout_s: float
    may_use: bool
    may_manage: bool
    can_mark_read_only: bool
    is_signed_in: bool
    status: McpStatus
    tools: Sequence[McpToolItem]
    num_tokens: int
    """About what its tools take of the context of a message."""


class McpServerList(msgspec.Struct, frozen=True):
    items: Sequence[McpServerItem]
    can_add: bool
    can_add_commands: bool
    can_share: bool


class McpSource(msgspec.Struct, frozen=True, kw_only=True):
    """A server that texts for a message come from."""

    id: str
    title: str
    prefix: str
    """What its commands begin with."""
    may_have_resources: bool
    """False once it has said that it has none."""
    may_have_prompts: bool


class McpVariable(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    is_required: bool


class McpResource(msgspec.Struct, frozen=True, kw_only=True):
    uri: str
    name: str
    description: str
    media_type: str
    variables: Sequence[McpVariable] = ()
    """Those of a template: then `uri` has places to fill in."""


class McpPromptArgument(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    is_required: bool


class McpPrompt(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    arguments: Sequence[McpPromptArgument]


class McpText(msgspec.Struct, frozen=True):
    text: str


class McpResourceText(msgspec.Struct, frozen=True):
    uri: str
    """Of what was read: for a template, with its places filled in."""
    text: str


class McpSignIn(msgspec.Struct, frozen=True):
    url: str
