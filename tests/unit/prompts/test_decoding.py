"""Decoding where several have a say in it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from hitsend.messages import Sampling
from hitsend.prompts import laid_over

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
    """Whatever can be said without contradicting oneself."""
    said = draw(st.fixed_dictionaries({}, optional=FIELDS))
    try:
        return msgspec.convert(said, Sampling)
    except msgspec.ValidationError:
        return Sampling()


def test_what_was_asked_for_wins_field_by_field() -> None:
    default = Sampling(temperature=0.2, top_p=0.5, max_tokens=10, stop=("x",))
    assert laid_over(Sampling(), default) == default
    assert laid_over(Sampling(temperature=0.0), default).temperature == 0.0
    assert laid_over(Sampling(stop=("y",)), default).stop == ("y",)
    assert laid_over(Sampling(stop=()), default).stop == ()


def test_only_what_contradicts_is_left_out() -> None:
    default = Sampling(temperature=0.2, top_p=0.5, max_tokens=10, stop=("x",))
    assert laid_over(Sampling(policy="greedy"), default) == Sampling(
        policy="greedy", top_p=0.5, max_tokens=10, stop=("x",)
    )
    summary = Sampling(temperature=0.0, max_tokens=200, repeat_penalty=1.1)
    assert laid_over(Sampling(policy="beam"), summary) == Sampling(
        policy="beam", temperature=0.0, max_tokens=200
    )
    assert laid_over(Sampling(temperature=1.0), Sampling(policy="greedy", top_p=0.5)) == Sampling(
        temperature=1.0, top_p=0.5
    )


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
def test_a_default_never_stands_in_the_way_of_what_was_asked(
    policy: str, default: Sampling
) -> None:
    asked = msgspec.convert({"policy": policy}, Sampling)
    assert laid_over(asked, default).policy == policy


@given(samplings(), samplings())
def test_every_field_is_as_asked_or_as_the_default_or_contradicts(
    asked: Sampling, default: Sampling
) -> None:
    laid = asdict(laid_over(asked, default))
    assert laid.items() >= asked.said.items()
    for name, value in default.said.items():
        if getattr(asked, name) is not None or laid[name] == value:
            continue
        with pytest.raises(ValueError, match=r"leave out|at most"):
            replace(asked, **{name: value})
