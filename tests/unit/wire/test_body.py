import msgspec
import pytest

from hitsend.errors import Refused
from hitsend.wire.body import decode_body


class Body(msgspec.Struct, forbid_unknown_fields=True):
    text: str
    places: list[dict[str, int]] = []


def test_a_valid_body_is_decoded() -> None:
    body = rb'{"text":"\\u0000 \\ud800 \ud83d\ude00 \t","places":[{"a":1}]}'
    assert decode_body(body, Body) == Body("\\u0000 \\ud800 😀 \t", [{"a": 1}])


@pytest.mark.parametrize(
    ("body", "says", "param"),
    [
        (b"", "not JSON", None),
        (b'{"text":', "not JSON", None),
        (b"text=a", "not JSON", None),
        (b"[]", "object", None),
        (b"{}", "text", None),
        (b'{"text":1}', "Expected `str`", "text"),
        (b'{"text":"a","places":[{},{"a":"b"}]}', "Expected `int`", "places[1][...]"),
        (b'{"text":"a","more":1}', "more", None),
        (rb'{"text":"a\u0000b"}', "NUL", None),
        (rb'{"text":"a","places":[{"\u0000":1}]}', "NUL", None),
        (rb'{"text":"\ud800"}', "half a character", None),
        (rb'{"text":"\ude00\ud83d"}', "half a character", None),
        (rb'{"text":"\ud83dx"}', "half a character", None),
        (b'{"text":"\xff"}', "not UTF-8", None),
        (b'{"text":"\xed\xa0\x80"}', "not UTF-8", None),
        (b'{"text":' + b"[" * 100_000, "Expected `str`", "text"),
        (b'{"text":"a","more":' + b"[" * 100_000, "more", None),
    ],
)
def test_an_invalid_body_is_refused_with_the_reason(
    body: bytes, says: str, param: str | None
) -> None:
    with pytest.raises(Refused, match=says) as refusal:
        decode_body(body, Body)
    assert refusal.value.param == param


def test_a_nul_is_found_at_any_depth() -> None:
    deep = 800
    decode_body(b"[" * deep + rb'"\\u0000"' + b"]" * deep, object)
    with pytest.raises(Refused, match="NUL"):
        decode_body(b"[" * deep + rb'{"\u0000":1}' + b"]" * deep, object)


def test_a_body_nested_too_deeply_is_refused() -> None:
    with pytest.raises(Refused, match="nested too deeply"):
        decode_body(b"[" * 100_000, object)
