"""Finds passwords that are easy to guess: what everybody tries first counts for little.

A common word, the account's name, a year, a sequence or a repetition counts as two characters,
however long it is. What a password amounts to this way has to reach its minimum length. So
`passwort2024!` is refused, and a few unrelated words are fine.
"""

import re
import unicodedata
from collections.abc import Iterator

MIN_STRENGTH = 8
PIECE_STRENGTH = 2
MIN_PIECE_CHARS = 3

COMMON = """
access account adidas admin adminadmin administrator alexander amanda andrea andrew angel animal
anthony apple arsenal ashley august austin autumn babygirl bailey banana barcelona baseball
basketball batman bayern berlin biteme blink buster changeit changeme charlie chatgpt cheese
chelsea chocolate christian claudia coffee computer cookie correcthorsebatterystaple corvette
dallas daniel database default diamond donald dortmund dragon engel facebook ferrari flower
football freedom freunde fuckyou fussball fußball galaxy gandalf geheim germany ginger google
guest hallo hamburg hammer hannah harley heaven hello herbst hitsend hockey hunter ichliebedich
iloveyou internet jasmine jennifer jessica jesus jordan joshua julian justin justme katze kennwort
killer knight lakers letmein liebe liverpool login london love lovely maggie marina master matrix
matthew maverick mercedes merlin michael michelle microsoft minecraft monday monkey mustang mynoob
naruto nicole ninja nintendo october officer oliver openai orange pass passphrase passwd password
passwort patrick peanut pepper phoenix pokemon porsche princess prinzessin private purple qwert
ranger richard root samsung samurai sandra satan schalke schatz schule secret secure server
service shadow silver snoopy soccer sommer sonne spiderman spring starwars stefan steven summer
sunshine superman support system taylor tennis test thomas thunder tigger trustno ubuntu user
vanessa wasser welcome whatever william willkommen windows winter yankees
"""
"""Written by hand: words that stand at the top of most lists of leaked passwords, in English and
German. They count in any case, and with digits for letters."""
WORDS = tuple(COMMON.split())

ROWS = (
    "01234567890",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop",
    "qwertzuiop",
    "azertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "1q2w3e4r5t6z7u8i9o0p",
    "1q2w3e4r5t6y7u8i9o0p",
    "147258369",
    "!@#$%^&*()",
    '!"§$%&/()=',
)
"""Sequences on keyboards and in the alphabet, forwards and backwards."""

LOOK_ALIKES = {"@": "a", "4": "a", "3": "e", "0": "o", "$": "s", "5": "s", "7": "t", "!": "i"}
ONE = ("i", "l")
"""Letters that `1` may stand for."""

YEAR = re.compile(r"(?:19|20)[0-9]{2}")
RUN = re.compile(r"(.)\1{2,}", re.DOTALL)
REPETITION = re.compile(r"(.+?)\1+", re.DOTALL)
WORD = re.compile("|".join(sorted(map(re.escape, WORDS), key=len, reverse=True)))
SEQUENCES = (*ROWS, *(row[::-1] for row in ROWS))


def is_easy_to_guess(password: str, name: str = "") -> bool:
    """`name` is the account's."""
    plain, strength = _normalize(password), 0
    if repeated := REPETITION.fullmatch(plain):
        plain, strength = repeated[1], PIECE_STRENGTH
    spellings = (plain, *_decode(plain))
    own_names = list(_parts_of_name(name))
    position = 0
    while position < len(plain) and strength < MIN_STRENGTH:
        num_chars = max(
            _pattern_length(plain, position),
            *(_word_length(spelling, position, own_names) for spelling in spellings),
        )
        is_piece = num_chars >= MIN_PIECE_CHARS
        strength += PIECE_STRENGTH if is_piece else 1
        position += num_chars if is_piece else 1
    return strength < MIN_STRENGTH


def _normalize(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).lower().split())


def _decode(plain: str) -> Iterator[str]:
    """Yields what digits and signs in it may stand for."""
    for one in ONE:
        yield "".join({**LOOK_ALIKES, "1": one}.get(char, char) for char in plain)


def _parts_of_name(name: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", name).lower()
    for part in (_normalize(name), *re.split(r"[\W_]+", plain)):
        if len(part) >= MIN_PIECE_CHARS:
            yield part


def _word_length(text: str, position: int, own_names: list[str]) -> int:
    word = WORD.match(text, position)
    names = (len(one) for one in own_names if text.startswith(one, position))
    return max(len(word[0]) if word else 0, *names, 0)


def _pattern_length(plain: str, position: int) -> int:
    """The length of the year, the repeated character or the sequence that begins here."""
    found = (YEAR.match(plain, position), RUN.match(plain, position))
    return max(*(len(match[0]) for match in found if match), _sequence_length(plain, position), 0)


def _sequence_length(plain: str, position: int) -> int:
    end = position + MIN_PIECE_CHARS
    for row in SEQUENCES:
        while end <= len(plain) and plain[position:end] in row:
            end += 1
    return end - 1 - position
