"""What a sampling may ask for, and what contradicts itself."""

from typing import Any

import msgspec
import pytest

from hitsend.errors import Refused
from hitsend.messages import MAX_BEAM_TOKENS, Sampling
from hitsend.wire.body import decode


def parsed(**fields: Any) -> Sampling:
    return decode(msgspec.json.encode(fields), Sampling)


def test_what_was_stored_before_there_were_policies_is_sampled() -> None:
    assert parsed(temperature=0.7, max_tokens=4000).policy == "sample"


@pytest.mark.parametrize("policy", ["greedy", "beam"])
def test_what_leaves_nothing_to_chance_has_no_temperature(policy: str) -> None:
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
def test_a_beam_search_refuses_what_it_cannot_keep_to(name: str, value: object) -> None:
    with pytest.raises(Refused, match=f"leave out `{name}`"):
        parsed(policy="beam", **{name: value})


def test_a_beam_search_is_bounded() -> None:
    assert parsed(policy="beam", max_tokens=MAX_BEAM_TOKENS).max_tokens == MAX_BEAM_TOKENS
    with pytest.raises(Refused, match="at most 512"):
        parsed(policy="beam", max_tokens=MAX_BEAM_TOKENS + 1)
    for num_beams in (1, 9):
        with pytest.raises(Refused, match="num_beams"):
            parsed(policy="beam", num_beams=num_beams)
