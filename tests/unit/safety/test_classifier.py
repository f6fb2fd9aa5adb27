"""The classifier with made-up weights: windows, thresholds, and what happens without an encoder."""

import math
import struct
from array import array
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.errors import EngineDown
from hitsend.safety.classifier import (
    MAX_WINDOWS,
    SHORT_CHARS,
    Classifier,
    Threshold,
    Trained,
    Verdict,
    cut_windows,
)
from hitsend.safety.heads import (
    HEADS,
    NGRAM_HEADS,
    NUM_BUCKETS,
    NUM_DIMENSIONS,
    NUM_HIDDEN,
    Heads,
    Ngrams,
    hash_ngrams,
)

ALARM = "dynamite"


class FakeEncoder:
    """Puts what a text says about dynamite into the first dimension."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.error:
            raise self.error
        self.texts += texts
        vectors = [[float(ALARM in text)] + [0.0] * (NUM_DIMENSIONS - 1) for text in texts]
        return [struct.pack(f"<{NUM_DIMENSIONS}f", *vector) for vector in vectors]


def make_heads() -> Heads:
    """The first hidden unit is the first dimension. All heads read it: 4 or -4."""
    hidden, output = array("f", bytes(4 * NUM_HIDDEN * NUM_DIMENSIONS)), array("f")
    hidden[0] = 1.0
    for _ in HEADS:
        output.extend([8.0] + [0.0] * (NUM_HIDDEN - 1))
    return Heads(
        hidden.tobytes(),
        bytes(4 * NUM_HIDDEN),
        output.tobytes(),
        array("f", [-4.0] * len(HEADS)).tobytes(),
    )


def make_ngrams() -> Ngrams:
    tables = bytearray(NUM_BUCKETS * len(NGRAM_HEADS))
    for head in (NGRAM_HEADS.index("harm"), NGRAM_HEADS.index("answer harm")):
        for bucket in hash_ngrams(ALARM):
            tables[head * NUM_BUCKETS + bucket] = 100
    return Ngrams(bytes(tables), (0.1,) * len(NGRAM_HEADS), (-4.0,) * len(NGRAM_HEADS))


NGRAMS = make_ngrams()
TRAINED = Trained(
    make_heads(),
    NGRAMS,
    thresholds={"harm": Threshold(0.3, 0.9), "hate": Threshold(0.5, 0.99)},
    ngram_thresholds={"harm": Threshold(0.5, 0.95)},
)


async def test_the_verdict_has_every_head_and_the_decisions_of_those_with_a_threshold() -> None:
    verdict = await Classifier(TRAINED, FakeEncoder()).classify(f"a stick of {ALARM}")
    assert set(verdict.scores) == set(HEADS)
    assert verdict.decisions == {"harm": "block", "hate": "ask"}
    assert verdict.is_complete
    assert verdict.num_windows == 1


async def test_a_harmless_text_passes() -> None:
    verdict = await Classifier(TRAINED, FakeEncoder()).classify("a slice of bread")
    assert set(verdict.decisions.values()) == {"pass"}
    assert verdict.scores["hate"] == pytest.approx(1 / (1 + math.exp(4)), abs=1e-6)


async def test_a_disguised_text_is_read_in_plain_letters() -> None:
    encoder = FakeEncoder()
    await Classifier(TRAINED, encoder).classify("d y n a m i t e")
    assert encoder.texts == [ALARM]


async def test_the_most_alarming_window_decides() -> None:
    encoder = FakeEncoder()
    text = f"{'bread and butter. ' * 200} {ALARM} {'milk and honey. ' * 200}"
    verdict = await Classifier(TRAINED, encoder).classify(text)
    assert verdict.decisions["harm"] == "block"
    assert verdict.num_windows == len(encoder.texts) > 5


@pytest.mark.parametrize("encoder", [None, FakeEncoder(EngineDown("away"))])
async def test_without_an_encoder_the_ngrams_judge_and_the_verdict_says_so(
    encoder: FakeEncoder | None,
) -> None:
    classifier = Classifier(TRAINED, encoder)
    alarming, harmless = [await classifier.classify(text) for text in (ALARM, "bread")]
    assert not alarming.is_complete
    assert set(alarming.scores) == set(NGRAM_HEADS)
    assert (alarming.decisions, harmless.decisions) == ({"harm": "block"}, {"harm": "pass"})


async def test_a_text_too_long_to_be_read_whole_is_not_complete() -> None:
    encoder = FakeEncoder()
    verdict = await Classifier(TRAINED, encoder).classify("пшеница " * 20_000)
    assert not verdict.is_complete
    assert verdict.num_windows == MAX_WINDOWS


async def test_an_empty_text_passes() -> None:
    verdict = await Classifier(TRAINED, FakeEncoder()).classify("")
    assert set(verdict.decisions.values()) == {"pass"}


@given(st.text(alphabet=st.sampled_from("ab .1ж東"), max_size=3000))
def test_windows_cover_the_text_in_order(text: str) -> None:
    end = 0
    for window in cut_windows(text):
        start = text.find(window, max(end - len(window), 0))
        assert 0 <= start <= end
        end = max(end, start + len(window))
    assert end == len(text)


def test_windows_overlap() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    first, second, *_ = cut_windows(text)
    assert first.split()[-1] in second.split()
    assert all(window.split()[-1] in text.split() for window in (first, second))


def test_a_short_text_is_one_window() -> None:
    assert list(cut_windows("東" * SHORT_CHARS)) == ["東" * SHORT_CHARS]


def test_ngrams_do_not_depend_on_case_and_spaces() -> None:
    assert sorted(hash_ngrams("Bread  and\nButter")) == sorted(hash_ngrams("bread and butter"))


def test_heads_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="other sizes"):
        msgspec.structs.replace(make_heads(), output_bias=b"")


def test_top_names_the_highest_of_some_heads() -> None:
    verdict = Verdict({"hate": 0.2, "sexual": 0.4, "harm": 0.9}, {}, 1, is_complete=True)
    assert verdict.top(["hate", "sexual"]) == "sexual"


@given(st.lists(st.text(alphabet=st.sampled_from("aB .\nß東"), max_size=9), max_size=60))
def test_a_growing_text_has_the_score_that_it_has_as_a_whole(pieces: list[str]) -> None:
    stream, text = NGRAMS.stream("answer harm"), ""
    for piece in pieces:
        text += piece
        assert stream.add(piece) == pytest.approx(NGRAMS.score(text)["answer harm"])


def test_a_growing_text_is_judged_by_its_end() -> None:
    stream = NGRAMS.stream("answer harm")
    alarmed = stream.add(f"a stick of {ALARM} ")
    calm = [stream.add("bread and butter ") for _ in range(200)][-1]
    assert calm < alarmed
    assert calm == pytest.approx(NGRAMS.score("bread and butter " * 50)["answer harm"], abs=0.01)
