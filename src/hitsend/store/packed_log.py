"""The log of a turn, packed: a fifth of the space of its rows.

Tokens are taken out of the events and stored by column, because values of one kind compress well
together: that takes half the space of compressed JSON, and less time. Every bit is kept: `unpack`
returns what was packed. A change of the format needs a new VERSION, because logs are kept for
years.
"""

import math
import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice, pairwise

import msgspec
from msgspec.structs import replace

from hitsend.events import Stamped, TextArrived, decode, encode
from hitsend.messages import Alternative, Token

VERSION = b"\x02"
LEVEL = 6
COMMON = (
    b'{"type":"TurnStarted","turn_id":"","conversation_id":"","action":"next","model":"",'
    b'"is_first_turn":false,"created_at":17,"sampling":{"temperature":0.8,"top_p":0.95,"top_k":40,'
    b'"min_p":0.05,"presence_penalty":0.0,"frequency_penalty":0.0,"repeat_penalty":1.0,"seed":,'
    b'"max_tokens":2048,"stop":null,"logit_bias":null,"top_logprobs":3,"json_schema":null,'
    b'"policy":"sample","num_beams":null},"weights_sha256":"","request_id":"","turn_trace_id":"",'
    b'"cluster_region":"local"}\n{"type":"ContextBuilt","sections":[{"source":"system",'
    b'"num_messages":1,"num_chars":69,"num_tokens":0},{"source":"history","num_messages":2,'
    b'"num_chars":0,"num_tokens":0},{"source":"user","num_messages":1,"num_chars":0,"num_tokens":0}'
    b'],"seen":{"starts_at":null,"memories":[],"recalled":[],"summaries":[],'
    b'"num_dropped_messages":0,"prompts":[{"name":"system","version":1}],"changed":[]}}\n'
    b'{"type":"PromptEncoded","num_tokens":,"num_window_tokens":8192,"num_dropped_messages":0,'
    b'"is_exact":true,"spans":[["template",-1,3],["system",0,5],["history",1,9],["user",1,4]]}\n'
    b'{"type":"TurnAccepted"}\n{"type":"PromptWarmed","is_whole":true,"num_tokens":,"read_ms":,'
    b'"num_new_tokens":}\n{"type":"MessageAdded","message_id":"","parent_id":null,"message":'
    b'{"role":"user","parts":[{"kind":"text","text":""}],"source":"user"}}\n'
    b'{"type":"TitleChosen","title":"","revision":1}\n{"type":"AnswerStarted","message_id":"",'
    b'"parent_id":"","model":""}\n{"type":"AnswerDelayed","reason":"queue","num_ahead":1}\n'
    b'{"type":"PromptRead","num_cached_tokens":0,"num_evaluated_tokens":,"queued_ms":0.,'
    b'"prefill_ms":}\n{"type":"TextArrived","text":"","tokens":[],"first_word_ms":}\n'
    b'{"type":"AnswerFinished","message_id":"","ending":"stop","usage":{"num_input_tokens":,'
    b'"num_cached_tokens":0,"num_output_tokens":,"queued_ms":0.,"prefill_ms":,"decode_ms":,'
    b'"is_estimated":false,"first_word_ms":,"entropy":0.,"surprisal":0.,"is_truncated":false}}\n'
    b'{"type":"TitleChosen","title":"","revision":2}\n{"type":"TurnFinished","ending":"stop"}\n'
    b'{"type":"TextArrived","text":"","tokens":[]}\n{"type":"TextArrived","text":"","tokens":[]}\n'
)
"""Text that most logs contain. It halves the size of a short log, and is part of the format."""
WORDS = (
    "the of and to in a is that for it as was with be by on not are or his from at which but "
    "have an had you were one all we can there has been if more when will would who so no out "
    "up into them then what about could time these two may other only its new such like any "
    "my first our most your after also way many"
)
"""Frequent tokens of English."""
NEWER = (
    b'{"type":"TurnStarted","turn_id":"","conversation_id":"","action":"next","model":"","is_f'
    b'irst_turn":true,"created_at":17,"sampling":{"temperature":0.8,"top_p":0.9,"top_k":40,"mi'
    b'n_p":0.05,"presence_penalty":null,"frequency_penalty":null,"repeat_penalty":1.0,"seed":,'
    b'"max_tokens":2048,"stop":null,"logit_bias":null,"top_logprobs":3,"json_schema":null,"pol'
    b'icy":"sample","num_beams":null},"weights_sha256":"","request_id":"","turn_trace_id":"","'
    b'cluster_region":"local"}\n'
    b'{"type":"ContextBuilt","sections":[{"source":"system","num_messages":1,"num_chars":69,"n'
    b'um_tokens":15},{"source":"user","num_messages":1,"num_chars":17,"num_tokens":4}],"seen":'
    b'{"starts_at":null,"memories":[],"recalled":[],"summaries":[],"num_dropped_messages":0,"p'
    b'rompts":[{"name":"system","version":2}],"changed":[]}}\n'
    b'{"type":"PromptEncoded","num_tokens":,"num_window_tokens":8192,"num_dropped_messages":0,'
    b'"is_exact":true,"spans":[["template",-1,3],["system",0,15],["template",-1,5],["user",1,4'
    b'],["template",-1,6]]}\n'
    b'{"type":"TurnAccepted"}\n'
    b'{"type":"MessageAdded","message_id":"","parent_id":null,"message":{"role":"user","parts"'
    b':[{"kind":"text","text":""}],"source":"user"}}\n'
    b'{"type":"TitleChosen","title":"","revision":1}\n'
    b'{"type":"AnswerStarted","message_id":"","parent_id":"","model":""}\n'
    b'{"type":"PromptRead","num_cached_tokens":,"num_evaluated_tokens":,"queued_ms":,"prefill_'
    b'ms":}\n'
    b'{"type":"TextArrived","text":"","tokens":[],"first_word_ms":}\n'
    b'{"type":"TextArrived","text":"","tokens":[]}\n'
    b'{"type":"AnswerFinished","message_id":"","ending":"stop","usage":{"num_input_tokens":,"n'
    b'um_cached_tokens":,"num_output_tokens":,"queued_ms":,"prefill_ms":,"decode_ms":,"is_esti'
    b'mated":false,"entropy":,"surprisal":,"is_truncated":true}}\n'
    b'{"type":"TurnFinished","ending":"stop"}\n'
)
"""What the events have got since. The most useful text is at the end."""
DICTIONARIES = {
    b"\x01": COMMON,
    b"\x02": b"".join(msgspec.msgpack.encode(f" {word}") for word in WORDS.split())
    + COMMON
    + NEWER,
}
"""By version. A log of the first one has no `picks`."""
MICROS = 1000
"""In a millisecond."""
MAX_STEPPED = 2.0**40


class Floats(msgspec.Struct, array_like=True, frozen=True):
    """Numbers in the shortest form that keeps every bit: most times are whole microseconds, and
    probabilities come from single precision."""

    steps: tuple[int, ...] = ()
    """Microseconds from one to the next."""
    singles: bytes = b""
    doubles: bytes = b""


class Columns(msgspec.Struct, array_like=True, frozen=True):
    first_seq: int
    at_ms: Floats
    """One per event."""
    events: bytes
    """JSON, a line for each, without tokens."""
    num_tokens: tuple[int, ...]
    """One per TextArrived."""
    has_other_text: tuple[bool, ...]
    """One per TextArrived: whether its text differs from that of its tokens, and is in the JSON."""
    num_top: tuple[int, ...]
    """One per token."""
    token_at_ms: Floats
    ids: tuple[int, ...]
    """For each token its own, unless it is one of its alternatives, then those of them."""
    texts: tuple[str, ...]
    logprobs: Floats
    """NaN where it is not known."""
    picks: tuple[int, ...] = ()
    """One per token: which of its alternatives it is, counted from 1, or 0. Nearly all tokens are
    one of theirs, which saves a quarter of the space where three are recorded."""


def pack(events: Sequence[Stamped]) -> bytes:
    """Raises ValueError where the numbers of the events have a gap."""
    if events[-1].seq - events[0].seq != len(events) - 1:
        raise ValueError("the numbers of the events have a gap")
    compressor = zlib.compressobj(LEVEL, zdict=DICTIONARIES[VERSION])
    columns = msgspec.msgpack.encode(_to_columns(events))
    return VERSION + compressor.compress(columns) + compressor.flush()


def unpack(data: bytes) -> list[Stamped]:
    version, compressed = data[: len(VERSION)], data[len(VERSION) :]
    if version not in DICTIONARIES:
        raise ValueError("this log was packed by a newer hitsend")
    decompressor = zlib.decompressobj(zdict=DICTIONARIES[version])
    columns = decompressor.decompress(compressed) + decompressor.flush()
    return _to_events(msgspec.msgpack.decode(columns, type=Columns))


def without_tokens(events: Sequence[Stamped]) -> list[Stamped]:
    """Keeps the text, and forgets its tokens."""
    return [
        replace(stamped, event=replace(stamped.event, tokens=()))
        if isinstance(stamped.event, TextArrived)
        else stamped
        for stamped in events
    ]


def _to_columns(events: Sequence[Stamped]) -> Columns:
    arrivals = [one.event for one in events if isinstance(one.event, TextArrived)]
    tokens = [token for arrival in arrivals for token in arrival.tokens]
    picks = tuple(_find_pick(token) for token in tokens)
    words: list[Token | Alternative] = []
    for token, pick in zip(tokens, picks, strict=True):
        words += token.top if pick else (token, *token.top)
    lines, has_other_text = [], []
    for stamped in events:
        event = stamped.event
        if isinstance(event, TextArrived):
            is_other = event.text != "".join(token.text for token in event.tokens)
            event = replace(event, text=event.text if is_other else "", tokens=())
            has_other_text.append(is_other)
        lines.append(encode(event))
    return Columns(
        first_seq=events[0].seq,
        at_ms=_pack_floats([stamped.at_ms for stamped in events]),
        events=b"\n".join(lines),
        num_tokens=tuple(len(arrival.tokens) for arrival in arrivals),
        has_other_text=tuple(has_other_text),
        num_top=tuple(len(token.top) for token in tokens),
        token_at_ms=_pack_floats([token.at_ms for token in tokens]),
        ids=tuple(word.token_id for word in words),
        texts=tuple(word.text for word in words),
        logprobs=_pack_floats(
            [math.nan if word.logprob is None else word.logprob for word in words]
        ),
        picks=picks if any(picks) else (),
    )


def _find_pick(token: Token) -> int:
    for number, other in enumerate(token.top, 1):
        if (other.token_id, other.text) == (token.token_id, token.text):
            is_same = token.logprob is not None and (
                _doubles([token.logprob]) == _doubles([other.logprob])
            )
            return number if is_same else 0
    return 0


def _to_events(columns: Columns) -> list[Stamped]:
    tokens = _to_tokens(columns)
    arrivals = zip(columns.num_tokens, columns.has_other_text, strict=True)
    events = []
    lines = columns.events.split(b"\n")
    for seq, (at_ms, line) in enumerate(
        zip(_unpack_floats(columns.at_ms), lines, strict=True), columns.first_seq
    ):
        event = decode(line)
        if isinstance(event, TextArrived):
            num_tokens, has_other_text = next(arrivals)
            own = tuple(islice(tokens, num_tokens))
            text = event.text if has_other_text else "".join(token.text for token in own)
            event = replace(event, text=text, tokens=own)
        events.append(Stamped(seq, at_ms, event))
    return events


def _to_tokens(columns: Columns) -> Iterator[Token]:
    words = zip(columns.ids, columns.texts, _unpack_floats(columns.logprobs), strict=True)
    times = _unpack_floats(columns.token_at_ms)
    picks = columns.picks or (0,) * len(columns.num_top)
    for num_top, at_ms, pick in zip(columns.num_top, times, picks, strict=True):
        own = None if pick else next(words)
        top = tuple(Alternative(*word) for word in islice(words, num_top))
        token_id, text, logprob = own or msgspec.structs.astuple(top[pick - 1])
        yield Token(token_id, text, None if math.isnan(logprob) else logprob, at_ms, top)


def _pack_floats(values: Sequence[float]) -> Floats:
    exact = _doubles(values)
    if all(abs(value) < MAX_STEPPED for value in values):
        micros = [round(value * MICROS) for value in values]
        stepped = Floats(steps=tuple(b - a for a, b in pairwise([0, *micros])))
        if _doubles(_unpack_floats(stepped)) == exact:
            return stepped
    try:
        single = Floats(singles=_by_byte(struct.pack(f"<{len(values)}f", *values), 4))
    except OverflowError:
        return Floats(doubles=_by_byte(exact, 8))
    is_exact = _doubles(_unpack_floats(single)) == exact
    return single if is_exact else Floats(doubles=_by_byte(exact, 8))


def _unpack_floats(packed: Floats) -> Sequence[float]:
    if packed.singles:
        data = _by_value(packed.singles, 4)
        return struct.unpack(f"<{len(data) // 4}f", data)
    if packed.doubles:
        data = _by_value(packed.doubles, 8)
        return struct.unpack(f"<{len(data) // 8}d", data)
    return [micros / MICROS for micros in accumulate(packed.steps)]


def _doubles(values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def _by_byte(data: bytes, size: int) -> bytes:
    """First bytes of all values, then second ones, and so on: signs and exponents are alike."""
    return b"".join(data[place::size] for place in range(size))


def _by_value(data: bytes, size: int) -> bytes:
    values = bytearray(len(data))
    length = len(data) // size
    for place in range(size):
        values[place::size] = data[place * length : (place + 1) * length]
    return bytes(values)
