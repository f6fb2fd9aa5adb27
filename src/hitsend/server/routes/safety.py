"""Safety: policies and statistics for administrators, the queue for reviewers, appeals of people,
and OpenAI's moderations API."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.responses import Response

from hitsend.errors import EngineDown, Refused
from hitsend.safety.classifier import Verdict
from hitsend.safety.help import find_help
from hitsend.safety.policy import DEFAULT_POLICY, Policy, Screening
from hitsend.safety.redaction import Redaction
from hitsend.safety.screener import Screener
from hitsend.server.call import Access, Call, endpoint, json_response
from hitsend.server.turns.stream import RevocableStream
from hitsend.store import EVERYONE, Store, VersionedPolicy
from hitsend.store.audit_events import DataExported
from hitsend.wire.moderations import ModerationRequest, build_moderations, read_inputs
from hitsend.wire.responses import Items

PATH = "/backend-api/safety"
MAX_DAYS = 365
MAX_TRIED_CHARS = 20_000


class SafetyState(msgspec.Struct, frozen=True):
    is_on: bool
    has_classifier: bool
    shipped: Policy
    changed: Mapping[str, VersionedPolicy]
    """What administrators changed, by the id of the group, or `everyone`."""


class TriedText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=MAX_TRIED_CHARS)]
    scope: str = EVERYONE


class TriedResult(msgspec.Struct, frozen=True):
    """What each layer makes of a text. Nothing of it is stored."""

    prompt: Screening
    document: Screening
    answer: Screening
    verdict: Verdict | None
    redacted: str
    redactions: tuple[Redaction, ...]


class ReviewDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    decision: Literal["uphold", "allow"]
    note: Annotated[str, Meta(max_length=2000)] = ""


class OpenReviews(msgspec.Struct, frozen=True):
    num_open: int


class Appeal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    words: Annotated[str, Meta(max_length=2000)] = ""


@endpoint("GET", f"{PATH}/policies", Access.ADMIN)
async def get_policies(call: Call) -> Response:
    """Get the shipped safety policy, and what administrators changed."""
    services = call.app.services
    changed = await services.store.safety_policies.list_changed()
    has_classifier = services.safety is not None and services.safety.classifier is not None
    is_on = services.safety is not None
    return json_response(SafetyState(is_on, has_classifier, DEFAULT_POLICY, changed))


@endpoint("PUT", f"{PATH}/policies/{{scope}}", Access.ADMIN)
async def set_policy(call: Call) -> Response:
    """Set the safety policy of a group, or of `everyone`."""
    policy, policies = await call.read_body(Policy), call.app.services.store.safety_policies
    return json_response(await policies.change(call.path_param("scope"), policy, call.actor))


@endpoint("DELETE", f"{PATH}/policies/{{scope}}", Access.ADMIN)
async def reset_policy(call: Call) -> Response:
    """Go back to the shipped safety policy, or for a group to everyone's."""
    policies = call.app.services.store.safety_policies
    return json_response(await policies.change(call.path_param("scope"), None, call.actor))


@endpoint("GET", f"{PATH}/statistics", Access.ADMIN)
async def get_statistics(call: Call) -> Response:
    """Count what the safety checks did in the last `days`, by outcome, category and model."""
    num_days = call.query_int("days", 30, maximum=MAX_DAYS)
    counts = await call.app.services.store.screenings.count(num_days)
    return json_response(Items(counts))


@endpoint("POST", f"{PATH}/try", Access.ADMIN)
async def try_text(call: Call) -> Response:
    """Show what each layer of the safety checks makes of a text. Stores nothing."""
    body, safety = await call.read_body(TriedText), _require_safety(call)
    changed = await call.app.services.store.safety_policies.list_changed()
    if body.scope != EVERYONE and body.scope not in changed:
        raise Refused("This group has no safety policy of its own.", param="scope")
    policy = changed.get(body.scope, VersionedPolicy()).policy
    redacted = safety.redact(body.text, policy, call.user_id)
    verdict = await safety.classify(redacted.text)
    result = TriedResult(
        await safety.screen_prompt(redacted.text, policy),
        await safety.screen_document(redacted.text, policy),
        await safety.judge_answer(redacted.text, policy),
        verdict,
        redacted.text,
        redacted.redactions,
    )
    return json_response(result)


@endpoint("GET", f"{PATH}/reviews", Access.REVIEW)
async def list_reviews(call: Call) -> Response:
    """List what waits for a review, oldest first; or with `decided=true` what was decided."""
    is_open = call.request.query_params.get("decided") != "true"
    offset = call.query_int("offset", 0, maximum=1_000_000)
    reviews = call.app.services.store.reviews
    return json_response(Items(await reviews.read_queue(is_open=is_open, offset=offset)))


@endpoint("GET", f"{PATH}/reviews/count", Access.REVIEW)
async def count_reviews(call: Call) -> Response:
    """Count what waits for a review."""
    return json_response(OpenReviews(await call.app.services.store.reviews.count_open()))


@endpoint("GET", f"{PATH}/reviews/export", Access.ADMIN)
async def export_reviews(call: Call) -> Response:
    """Download decided reviews as JSON lines, newest first. Messages are left out."""
    store = call.app.services.store
    await store.audit.record(DataExported("reviews"), call.actor)
    name = f"hitsend-reviews-{datetime.now(UTC):%Y-%m-%d}.jsonl"
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{name}"',
    }
    return RevocableStream(_lines(store), headers=headers, media_type="application/jsonl")


@endpoint("GET", f"{PATH}/reviews/{{review_id}}", Access.REVIEW)
async def get_review(call: Call) -> Response:
    """Get a review with its message and those before it. Personal data is hidden."""
    return json_response(await call.app.services.store.reviews.get(call.path_param("review_id")))


@endpoint("POST", f"{PATH}/reviews/{{review_id}}", Access.REVIEW)
async def decide_review(call: Call) -> Response:
    """Decide a review: uphold the block, or allow the message."""
    body, reviews = await call.read_body(ReviewDecision), call.app.services.store.reviews
    place = call.path_param("review_id")
    return json_response(await reviews.decide(place, body.decision, body.note, call.actor))


@endpoint(
    "POST",
    "/backend-api/conversation/{conversation_id}/messages/{message_id}/appeal",
    Access.CHAT_AND_READ,
)
async def appeal(call: Call) -> Response:
    """Ask a person to look at a message that was blocked."""
    body, reviews = await call.read_body(Appeal), call.app.services.store.reviews
    place = call.path_param("conversation_id"), call.path_param("message_id")
    return json_response(await reviews.appeal(*place, call.user_id, body.words), 201)


@endpoint("GET", "/backend-api/conversation/{conversation_id}/appeals", Access.READ)
async def list_appeals(call: Call) -> Response:
    """List the appeals in a conversation, and what came of them."""
    reviews = call.app.services.store.reviews
    place = call.path_param("conversation_id"), call.user_id
    return json_response(Items(await reviews.list_own(*place)))


@endpoint("GET", f"{PATH}/help", Access.USER)
async def get_help(call: Call) -> Response:
    """Find people to talk to near a `time_zone`, or else where a `language` is spoken."""
    params = call.request.query_params
    return json_response(find_help(params.get("time_zone", ""), params.get("language", "")))


@endpoint("POST", "/v1/moderations", Access.KEY)
async def create_moderation(call: Call) -> Response:
    """Score texts by category, as OpenAI's API does."""
    safety, settings = _require_safety(call), call.app.services.settings
    texts = read_inputs(await call.read_body(ModerationRequest), settings.max_message_chars)
    verdicts = [await safety.classify(text) for text in texts]
    whole = [verdict for verdict in verdicts if verdict is not None and verdict.is_complete]
    if len(whole) < len(texts):
        raise EngineDown("The safety classifier does not work just now.", retry_after_s=5)
    return json_response(build_moderations(whole))


async def _lines(store: Store) -> AsyncGenerator[bytes]:
    offset = 0
    while reviews := await store.reviews.read_queue(is_open=False, offset=offset):
        yield _encode_lines(reviews)
        offset += len(reviews)


def _encode_lines(reviews: Sequence[object]) -> bytes:
    return b"".join(msgspec.json.encode(review) + b"\n" for review in reviews)


def _require_safety(call: Call) -> Screener:
    if (safety := call.app.services.safety) is None:
        raise Refused("The safety checks are turned off on this server (HITSEND_SAFETY).")
    return safety
