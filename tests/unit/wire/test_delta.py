from typing import TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.wire.delta import BadDelta, Carry, DeltaDecoder, DeltaEncoder, Op

Change: TypeAlias = tuple[int, str, Op, object]

ADD = b'{"p":"","o":"add","v":{"text":""},"c":0}'
APPEND = b'{"p":"/text","o":"append","v":"a"}'


def sent(encoder: DeltaEncoder, *changes: Change) -> list[bytes]:
    return [msgspec.json.encode(encoder.encode(*change)) for change in changes]


def decoder_of(*deltas: bytes) -> DeltaDecoder:
    decoder = DeltaDecoder()
    for delta in deltas:
        decoder.decode(delta)
    return decoder


def test_fields_that_equal_the_previous_delta_are_omitted() -> None:
    assert sent(
        DeltaEncoder(),
        (0, "", "add", {}),
        (1, "", "add", {}),
        (1, "/a", "append", "x"),
        (1, "/a", "append", "y"),
        (1, "/a", "replace", "z"),
        (1, "/b", "replace", None),
        (0, "/b", "replace", 1),
        (0, "", "patch", []),
        (0, "", "patch", []),
        (0, "", "add", {}),
    ) == [
        b'{"p":"","o":"add","v":{},"c":0}',
        b'{"v":{},"c":1}',
        b'{"p":"/a","o":"append","v":"x"}',
        b'{"v":"y"}',
        b'{"o":"replace","v":"z"}',
        b'{"p":"/b","v":null}',
        b'{"v":1,"c":0}',
        b'{"p":"","o":"patch","v":[]}',
        b'{"v":[]}',
        b'{"o":"add","v":{}}',
    ]


def test_each_channel_has_its_own_tree() -> None:
    decoder = decoder_of(ADD, b'{"v":{"text":"b"},"c":1}', APPEND, b'{"v":"c","c":0}')
    assert decoder.channels == [0, 1]
    assert decoder.tree(0) == {"text": "c"}
    assert decoder.tree(1) == {"text": "ba"}


def test_text_sent_in_pieces_is_complete_whenever_the_tree_is_read() -> None:
    decoder = decoder_of(ADD, APPEND, b'{"v":"b"}')
    assert decoder.tree(0) == {"text": "ab"}
    decoder.decode(b'{"v":"c"}')
    decoder.decode(b'{"v":"d"}')
    assert decoder.tree(0) == {"text": "abcd"}
    decoder.decode(b'{"p":"","o":"patch","v":[{"p":"/text","o":"truncate","v":1}]}')
    assert decoder.tree(0) == {"text": "a"}


def test_a_decoder_resumes_from_a_carry() -> None:
    decoder = decoder_of(ADD, APPEND, b'{"v":"b"}', b'{"p":"","o":"patch","v":[]}')
    decoder.resume(Carry(0, "/text", "append"))
    decoder.decode(b'{"v":"c"}')
    assert decoder.tree(0) == {"text": "abc"}
    assert decoder.carry == Carry(0, "/text", "append")


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([b'{"v":"x"}'], id="nothing to carry over"),
        pytest.param([b'{"p":"","o":"add","v":1}'], id="no channel"),
        pytest.param([APPEND[:-1] + b',"c":0}'], id="append on a channel without a tree"),
        pytest.param([ADD, b'{"p":"/text","o":"append","v":"a","c":7}'], id="another channel"),
        pytest.param([ADD, APPEND, b'{"v":1}'], id="a number appended to a text"),
        pytest.param([ADD, b'{"o":"patch","v":[]}', b'{"v":"x"}'], id="a text after a patch"),
        pytest.param([ADD, b'{"v":1,"x":2}'], id="a field nobody knows"),
        pytest.param([ADD, b'{"v":1,"c":"0"}'], id="a channel that is no number"),
        pytest.param([ADD, b'{"v":'], id="half a delta"),
        pytest.param([ADD, b'{"v":"\xff"}'], id="not UTF-8"),
        pytest.param([ADD, b"[]"], id="a list"),
    ],
)
def test_an_invalid_delta_is_refused(deltas: list[bytes]) -> None:
    with pytest.raises(BadDelta):
        decoder_of(*deltas)


def test_an_unused_channel_has_no_tree() -> None:
    with pytest.raises(BadDelta):
        decoder_of(ADD).tree(3)


paths = st.sampled_from(["/a", "/b", "/c~1~0d"])
texts = st.text(st.characters(exclude_categories=["Cs"]))
changes = st.one_of(
    st.tuples(st.integers(0, 2), paths, st.just("append"), texts),
    st.tuples(st.integers(0, 2), paths, st.just("replace"), texts),
    st.tuples(
        st.integers(0, 2),
        st.just(""),
        st.just("patch"),
        st.lists(st.fixed_dictionaries({"p": paths, "o": st.just("append"), "v": texts})),
    ),
)


@given(st.lists(changes))
def test_any_sequence_of_changes_survives_encoding_and_decoding(
    made: list[Change],
) -> None:
    starts: list[Change] = [
        (channel, "", "add", {"a": "", "b": "", "c/~d": ""}) for channel in range(3)
    ]
    decoder = decoder_of(*sent(DeltaEncoder(), *starts, *made))
    told = [DeltaDecoder() for _ in range(3)]
    for channel, path, op, value in [*starts, *made]:
        whole = {"c": channel, "p": path, "o": op, "v": value}
        told[channel].decode(msgspec.json.encode(whole))
    assert [decoder.tree(i) for i in range(3)] == [told[i].tree(i) for i in range(3)]
