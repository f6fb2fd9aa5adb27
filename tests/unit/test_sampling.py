"""Sampling: valid fields and contradictions."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.engine.remote.chat_request import schema_format
from hitsend.errors import Refused
from hitsend.messages import FREE, MAX_BEAM_TOKENS, Sampling
from hitsend.wire.body import decode_body


def parsed(**fields: Any) -> Sampling:
    return decode_body(msgspec.json.encode(fields), Sampling)


def test_an_unset_field_differs_from_every_value() -> None:
    assert parsed().explicit == {}
    every = {"policy": "sample", "stop": [], "logit_bias": [], "top_logprobs": 0}
    assert parsed(**every).explicit.keys() == every.keys()


@given(st.text() | st.text('{}[]":,1a\\ \n'))
def test_a_schema_is_one_object_or_is_refused(schema: str) -> None:
    try:
        sampling = Sampling(json_schema=schema)
    except ValueError:
        return
    assert sampling.json_schema is not None
    sent = msgspec.json.decode(msgspec.json.encode(schema_format(sampling.json_schema, FREE)))
    assert sent == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": json.loads(schema)},
    }


@pytest.mark.parametrize("policy", ["greedy", "beam"])
def test_a_deterministic_policy_refuses_a_temperature(policy: str) -> None:
    assert parsed(policy=policy, temperature=0).policy == policy
    with pytest.raises(Refused, match="leave out `temperature`"):
        parsed(policy=policy, temperature=0.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("json_schema", "{}"),
        ("logit_bias", [[5, 2.0]]),
        ("presence_penalty", 0.5),
        ("frequency_penalty", -0.5),
        ("repeat_penalty", 1.1),
    ],
)
def test_a_beam_search_refuses_biasing_fields(name: str, value: object) -> None:
    with pytest.raises(Refused, match=f"leave out `{name}`"):
        parsed(policy="beam", **{name: value})


def test_a_beam_search_is_bounded() -> None:
    assert parsed(policy="beam", max_tokens=MAX_BEAM_TOKENS).max_tokens == MAX_BEAM_TOKENS
    with pytest.raises(Refused, match="at most 512"):
        parsed(policy="beam", max_tokens=MAX_BEAM_TOKENS + 1)
    for num_beams in (1, 9):
        with pytest.raises(Refused, match="num_beams"):
            parsed(policy="beam", num_beams=num_beams)
