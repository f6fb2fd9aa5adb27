"""The client's own shapes of responses, against those that the server sends."""

import msgspec
import pytest
from tests.unit.client.recorded import said, stored_answer, whole

from hitsend.client import Finished, responses
from hitsend.client.stream_reader import StreamReader
from hitsend.engine import ModelFacts
from hitsend.messages import Approval, Form, ToolCall, ToolResult
from hitsend.safety.policy import SafetyReason, Screening
from hitsend.server.routes.models import ModelList
from hitsend.server.routes.tools import Features
from hitsend.tools import Feature
from hitsend.tools.toolbox import FeatureTool
from hitsend.wire import message
from hitsend.wire.responses import ConversationDetail, ConversationNode

WIRE: dict[type[msgspec.Struct], type[msgspec.Struct]] = {
    responses.Author: message.Author,
    responses.Content: message.Content,
    responses.Conversation: ConversationDetail,
    responses.Envelope: message.Envelope,
    responses.Feature: Feature,
    responses.FeatureList: Features,
    responses.FeatureTool: FeatureTool,
    responses.Message: message.WireMessage,
    responses.Metadata: message.Metadata,
    responses.Model: ModelFacts,
    responses.ModelList: ModelList,
    responses.Node: ConversationNode,
    responses.ToolResult: ToolResult,
    responses.ToolCall: ToolCall,
    responses.Approval: Approval,
    responses.Form: Form,
    responses.Safety: Screening,
    responses.SafetyReason: SafetyReason,
}


@pytest.mark.parametrize(
    "read",
    [
        kind
        for kind in vars(responses).values()
        if getattr(kind, "__module__", "") == responses.__name__
    ],
)
def test_the_client_reads_only_fields_that_the_server_writes(read: type[msgspec.Struct]) -> None:
    assert set(read.__struct_encode_fields__) <= set(WIRE[read].__struct_encode_fields__)


def test_words_of_a_newer_server_do_not_make_a_message_unreadable() -> None:
    newer = whole("remembered")
    for known, new in {
        b'"status":"in_progress"': b'"status":"thinking"',
        b'"channel":"final"': b'"channel":"analysis"',
        b'"recipient":"all"': b'"recipient":"search"',
        b'"seen_source":"system"': b'"seen_source":"calendar"',
    }.items():
        assert known in newer
        newer = newer.replace(known, new)
    updates = list(StreamReader().feed(newer))
    assert said(updates) == stored_answer("remembered")
    assert any(isinstance(update, Finished) for update in updates)
