"""Sampling merged from a request and a default."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from hitsend.messages import Sampling
from hitsend.prompts import merge_sampling

FIELDS = {
    "temperature": st.sampled_from([0.0, 0.7]),
    "top_p": st.just(0.5),
    "presence_penalty": st.sampled_from([0.0, 1.0]),
    "repeat_penalty": st.sampled_from([1.0, 1.1]),
    "seed": st.integers(0, 9),
    "max_tokens": st.sampled_from([10, 1000]),
    "stop": st.sampled_from([[], ["x"]]),
    "logit_bias": st.sampled_from([[], [[5, 2.0]]]),
    "top_logprobs": st.integers(0, 3),
    "json_schema": st.just("{}"),
    "policy": st.sampled_from(["sample", "greedy", "beam"]),
    "num_beams": st.integers(2, 8),
}


@st.composite
def samplings(draw: st.DrawFn) -> Sampling:
    """Any valid combination of fields."""
    fields = draw(st.fixed_dictionaries({}, optional=FIELDS))
    try:
        return msgspec.convert(fields, Sampling)
    except msgspec.ValidationError:
        return Sampling()


def test_requested_fields_override_the_default() -> None:
    default = Sampling(temperature=0.2, top_p=0.5, max_tokens=10, stop=("x",))
    assert merge_sampling(Sampling(), default) == default
    assert merge_sampling(Sampling(temperature=0.0), default).temperature == 0.0
    assert merge_sampling(Sampling(stop=("y",)), default).stop == ("y",)
    assert merge_sampling(Sampling(stop=()), default).stop == ()


def test_only_contradicting_defaults_are_dropped() -> None:
    default = Sampling(temperature=0.2, top_p=0.5, max_tokens=10, stop=("x",))
    assert merge_sampling(Sampling(policy="greedy"), default) == Sampling(
        policy="greedy", top_p=0.5, max_tokens=10, stop=("x",)
    )
    summary = Sampling(temperature=0.0, max_tokens=200, repeat_penalty=1.1)
    assert merge_sampling(Sampling(policy="beam"), summary) == Sampling(
        policy="beam", temperature=0.0, max_tokens=200
    )
    assert merge_sampling(
        Sampling(temperature=1.0), Sampling(policy="greedy", top_p=0.5)
    ) == Sampling(temperature=1.0, top_p=0.5)


@pytest.mark.parametrize("policy", ["sample", "greedy", "beam"])
@pytest.mark.parametrize(
    "default",
    [
        Sampling(max_tokens=1000),
        Sampling(temperature=0.7, max_tokens=1000),
        Sampling(presence_penalty=1.0, stop=("x",)),
        Sampling(policy="beam", num_beams=2, max_tokens=100),
        Sampling(policy="greedy"),
    ],
)
def test_a_default_never_prevents_a_request(policy: str, default: Sampling) -> None:
    requested = msgspec.convert({"policy": policy}, Sampling)
    assert merge_sampling(requested, default).policy == policy


@given(samplings(), samplings())
def test_every_field_is_requested_or_the_default_or_contradicts(
    requested: Sampling, default: Sampling
) -> None:
    merged = asdict(merge_sampling(requested, default))
    assert merged.items() >= requested.explicit.items()
    for name, value in default.explicit.items():
        if getattr(requested, name) is not None or merged[name] == value:
            continue
        with pytest.raises(ValueError, match=r"leave out|at most"):
            replace(requested, **{name: value})
