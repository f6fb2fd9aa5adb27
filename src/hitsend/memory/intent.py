"""Parses requests to remember or forget a fact about the person, in English and German.

Only messages that start with such a request count: "remember that I …", "vergiss, dass ich …". A
message about remembering, a question what is remembered, or a reminder of the task is none. Other
wordings are left to the model, see `may_be_intent`.
"""

import re
from typing import TypeAlias

import msgspec

from hitsend.memory.german import to_main_clause
from hitsend.memory.imperatives import VERB

MAX_CHARS = 600
"""Maximum length of the fact. A pasted page is not a request."""

MAX_MESSAGE_CHARS = 1_000
"""A longer message is not checked for a request."""


class Remember(msgspec.Struct, frozen=True):
    text: str
    """In the person's own words: "I bake on Sundays.\""""


class Forget(msgspec.Struct, frozen=True):
    about: str
    is_certain: bool = True
    """If not, it counts as a request only if a memory matches."""


class ForgetAll(msgspec.Struct, frozen=True):
    """A request to forget everything, which a chat message cannot do."""


Intent: TypeAlias = Remember | Forget | ForgetAll


def parse_intent(message: str) -> Intent | None:
    line = message.strip().partition("\n")[0][:MAX_MESSAGE_CHARS]
    request = GREETING.sub("", " ".join(line.split()), count=1)
    if not request or "`" in line:
        return None
    if FORGET_ALL.fullmatch(request.rstrip(" .!?")):
        return ForgetAll()
    return _parse_remember(request) or _parse_forget(request)


def has_more_text(message: str) -> bool:
    """Whether text follows the sentence with the request."""
    if len(message) > MAX_MESSAGE_CHARS:
        return True
    request = GREETING.sub("", " ".join(message.split()), count=1)
    return _first_sentence(request) != request and not FACT_FIRST.fullmatch(request)


def is_german(message: str) -> bool:
    """Judged by the words of the request."""
    return GERMAN.search(message) is not None


def is_fact(text: str) -> bool:
    """Whether it states a fact about the person."""
    return _is_fact(text) and bool(STATES.search(text) or THEIRS.match(text))


def may_be_intent(message: str) -> bool:
    """Whether it may be a request in other words, which a model should decide."""
    if len(message) > MAX_MESSAGE_CHARS or ASKS_RECALL.match(message.strip()):
        return False
    if OWN_MEMORY.search(message):
        return False
    return HINT.search(message) is not None and PERSON.search(message) is not None


def _parse_remember(request: str) -> Remember | None:
    for pattern in REMEMBER_PATTERNS:
        if found := pattern.match(request):
            text, groups = found["fact"], found.groupdict()
            fact = text.strip() if groups.get("colon") else _first_sentence(text)
            is_stated = _is_fact(fact) and ("bare" not in groups or _states(fact, groups))
            return Remember(_as_sentence(fact)) if is_stated else None
    found = FACT_FIRST.fullmatch(request)
    fact = found["fact"] if found else ""
    is_one = fact != "" and _first_sentence(fact) == fact
    return Remember(_as_sentence(fact)) if is_one and _is_fact(fact) else None


def _states(fact: str, groups: dict[str, str]) -> bool:
    """ "Remember my name?" states nothing."""
    is_question = fact.endswith("?") and not groups["asking"]
    return not is_question and STATES.search(fact) is not None


def _parse_forget(request: str) -> Forget | None:
    for pattern in FORGET_PATTERNS:
        if found := pattern.match(request):
            about = FURTHER.split(_first_sentence(found["about"]), maxsplit=1)[0].rstrip(" .!?")
            if TASK.search(about) or len(about) > MAX_CHARS:
                return None
            return Forget(about, "clause" not in found.groupdict())
    return None


def _is_fact(fact: str) -> bool:
    """Whether it is about the person, and not about the messages or the task."""
    is_about_person = FIRST_PERSON.match(fact) or THEIRS.match(fact)
    return bool(is_about_person) and len(fact) <= MAX_CHARS and not TASK.search(fact)


def _first_sentence(text: str) -> str:
    """Returns the text up to the next sentence."""
    for end in SENTENCE_END.finditer(text):
        last_word = text[: end.start()].rsplit(None, 1)[-1]
        is_short = last_word.casefold() in ABBREVIATIONS or ORDINAL.fullmatch(last_word)
        if end[0][0] != "." or not is_short:
            return text[: end.start() + 1].strip()
    return text.strip()


def _as_sentence(fact: str) -> str:
    fact = to_main_clause(QUESTION_TAIL.sub("", fact).rstrip(" ?"))
    whole = fact[0].upper() + fact[1:]
    return whole if whole[-1] in ".!…" else f"{whole}."


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


GREETING = _pattern(
    r"""(?: (?: please | pls | hey | hi | hello | ok(?:ay)? | oh | also | and | so | yes | now
          | bitte | hallo | und | also | ach | ja | jetzt | übrigens | btw | by\ the\ way )
        [,!.:]?\s+ )*"""
)
ASKING = r"""(?: (?: can | could | would ) \s you \s (?: please \s )?
             | i (?: 'd | \s would ) \s like \s you \s to \s | i \s want \s you \s to \s )?"""
ASKING_DE = r"(?: (?: kannst | könntest | würdest ) \s du \s )?"
BITTE = r"(?: \s (?: bitte | mal | doch ) )*"
MEMORY = r"(?: your \s | my \s | the \s )? memory"

REMEMBER = rf"""(?: (?: always \s )? remember | memori[sz]e
    | (?: don'?t | don’t | do \s not | never ) \s (?: ever \s )? forget
    | (?: make | take ) \s a \s note
    | (?: save | add | put | store ) \s (?: this | it | the \s following ) \s
      (?: to | in ) \s {MEMORY}
    | (?: save | add ) \s to \s {MEMORY} )"""
MERKE = rf"""(?: merke? \s dir {BITTE} | denke? {BITTE} \s (?: daran | dran )
    | vergiss {BITTE} \s nicht | behalte? {BITTE} \s (?: im \s kopf | in \s erinnerung )
    | notiere? \s dir {BITTE} )"""
THIS = r"(?: \s (?: this | that | it | the \s following | das | dies | folgendes ) )?"
NAME = r"(?-i: [A-ZÄÖÜ][\w'’-]+ (?: \s [A-ZÄÖÜ][\w'’-]+ ){0,2} )"
FACT = r"(?P<fact> \S .* )"

REMEMBER_PATTERNS = (
    _pattern(rf"{ASKING} {REMEMBER} {THIS} \s? (?P<colon> : ) \s* {FACT}"),
    _pattern(rf"{ASKING} {REMEMBER} ,? \s that ,? \s {FACT}"),
    _pattern(
        rf"""(?P<bare>) (?P<asking> {ASKING} ) {REMEMBER} ,? \s
        (?P<fact> (?: i | my | we | our ) \b .* )"""
    ),
    _pattern(
        rf"""(?: from \s now \s on ,? \s )? {ASKING} (?: please \s )? (?: always \s )?
        (?P<fact> call \s me \s (?: by \s (?: my | the ) \s name \s )? {NAME} )
        (?: \s from \s now \s on )? (?: ,? \s please )? [.!?]* $"""
    ),
    _pattern(
        rf"""(?: ab \s (?: jetzt | sofort ) \s )? (?P<fact> nenne? \s mich \s
        (?: (?: bitte | ab \s jetzt ) \s )* {NAME} ) [.!?]* $"""
    ),
    _pattern(
        rf"""(?: always \s )? remember \s to \s
        (?P<fact> (?: always \s )? call \s me \s {NAME} ) [.!]* $"""
    ),
    _pattern(rf"{MERKE} {THIS} ,? \s? (?P<colon> : ) \s* {FACT}"),
    _pattern(rf"{MERKE} ,? \s dass \s {FACT}"),
    _pattern(
        rf"""(?P<bare>) (?P<asking>) {MERKE} ,? \s
        (?P<fact> (?: ich | mein\w* | wir | unser\w* ) \b .* )"""
    ),
    _pattern(rf"{ASKING_DE} dir {BITTE} \s merken ,? \s dass \s {FACT}"),
)
"""The words of the request, and the fact."""
FACT_FIRST = _pattern(
    rf"""(?P<fact> (?: i | my | we | our | ich | mein\w* | wir | unser\w* ) \b [^?]*? )
        (?: [.,;!] | \s [–—-] ){{1,3}} \s
        (?: (?: so | and | please | also | und | bitte ) ,? \s )*
        (?: {ASKING} {REMEMBER} \s (?: this | that | it ) | {MERKE} \s (?: das | dies )
          | merke? \s dir \s (?: das | dies ) {BITTE} | vergiss \s das {BITTE} \s nicht )
        (?: ,? \s (?: please | bitte ) )? [.!]*"""
)
"""The fact, followed by the request."""
STATES = _pattern(
    r"""^ (?: i | we | ich | wir ) \b
      | \b (?: is | are | was | were | has | have | had | will | can | must | likes? | loves?
        | lives? | works? | hates? | prefers? | needs? | wants? | plays? | speaks? | eats? | drinks?
        | starts? | begins? | ends? | comes? | goes | moves? | moved | died | called | married
        | retired | name['’]s | ist | sind | war | hat | haben | heißt | heißen | wohnt | lebt
        | arbeitet | mag | liebt | hasst | isst | trinkt | spielt | kommt | geht | fährt | braucht
        | wird | kann | beginnt | endet | stirbt | starb ) \b"""
)

FORGET = r"""(?: forget | (?: stop | quit ) \s remembering | (?: don'?t | don’t | do \s not ) \s
    remember | (?: delete | remove | erase ) \s (?: the \s | your \s )? memory )"""
TOLD = r"""(?: (?: what | everything | anything ) \s (?: (?: i \s told \s you | you \s know
    | you \s remember ) \s )? )?"""
FORGET_PATTERNS = (
    _pattern(rf"{ASKING} {FORGET} ,? \s that \s (?P<about> (?: i | my | we | our ) \b .* )"),
    _pattern(rf"{ASKING} {FORGET} \s {TOLD} (?: about \s )? (?P<about> (?: my | our ) \s \w .* )"),
    _pattern(rf"{FORGET} \s (?P<about> i (?: 'm | ’m | \s ) .* )"),
    _pattern(
        rf"""vergiss {BITTE} (?: \s wieder )? ,? \s dass \s
        (?P<about> (?: ich | mein\w* | wir | unser\w* ) \b .* )"""
    ),
    _pattern(
        rf"""vergiss {BITTE} \s (?: alles \s )? (?: über \s )?
        (?P<about> (?: meine? [nmrs]? | unsere? [nmrs]? ) \s \w .* )"""
    ),
    _pattern(rf"{ASKING} {FORGET} ,? \s that \s (?P<clause>) (?P<about> \w .* )"),
    _pattern(rf"vergiss {BITTE} (?: \s wieder )? ,? \s dass \s (?P<clause>) (?P<about> \w .* )"),
)
FURTHER = _pattern(
    rf"""[,;:] | \s [–—-]+ \s
      | \s (?: and | but | so | then | und | aber | dann | sondern ) \s {VERB}"""
)
"""The start of another clause or request."""
FORGET_ALL = _pattern(
    rf"""{ASKING} (?: {FORGET} \s (?: all | everything ) \s (?: that \s )?
          (?: you \s (?: know | remember | (?: have \s )? learned ) \s )? about \s me
        | (?: forget | delete | erase | clear | remove | wipe ) \s (?: all \s (?: of \s )? )?
          (?: your | my ) \s memor(?: y | ies ) (?: \s (?: of | about ) \s me )?
        | vergiss {BITTE} \s alles ,? \s
          (?: was \s du \s )? (?: über | von ) \s mich? r? (?: \s weißt )?
        | lösche? {BITTE} \s (?: alle \s )? (?: deine | meine ) \s erinnerungen
          (?: \s an \s mich )? )"""
)

FIRST_PERSON = _pattern(r"(?: i | my | we | our | ich | mein\w* | wir | unser\w* )\b")
THEIRS = _pattern(
    r"""[\w'’ .-]{1,60}? \s (?: is | are | was | ist | sind | war | heißt ) \s
        (?: my | our | mine | ours | mein\w* | unser\w* )\b
      | (?: always \s )? call \s me \s | (?: du \s sollst \s )? nenne? \s mich \s
      | (?: people | friends | everyone | everybody | alle | freunde ) \s
        (?: call | nennen ) \s (?: me | mich )\b"""
)
"""For example "Luna is my cat"."""
TASK = _pattern(
    r"""^ (?: i | we ) \s (?: just \s | only \s | already \s )?
        (?: told | said | asked | mentioned | sent | gave | showed | wrote | posted | pasted )\b
      | ^ ich \s (?: (?: dir | es | das | dich ) \s )* (?: \w+ \s )*
        (?: gesagt | geschickt | geschrieben | gefragt | gezeigt ) \s (?: habe | hatte )
      | ^ (?: i | we ) \s (?: want | need | would \s like | 'd \s like ) \s
        (?: you\b | (?: the | this | an? ) \s
            (?: answer | output | code | result | text | response | function | list | table ) )
      | ^ (?: my | our | meine? [nmrs]? | unsere? [nmrs]? ) \s
        (?: (?: last | previous | earlier | first | above | other | letzten? | vorige[nr]?
              | vorherige[nr]? | erste[nr]? ) \s
          | (?: questions? | messages? | prompts? | requests? | instructions? | code | input
              | text | frage | nachricht | anfrage | anweisung(?:en)? | eingabe ) (?: \W | $ ) )"""
)
"""About the messages or the task: not worth remembering."""

HINT = _pattern(
    r"""\b (?: remember\w* | forget | memori[sz]e | memories
      | (?: your | my | to | in | the ) \s memory
      | note \s (?: that | down | this ) | a \s note | keep \s in \s mind | from \s now \s on
      | call \s me | merk\w* | vergiss | vergessen | denke? \s (?: \w+ \s )? (?: daran | dran )
      | behalt\w* | notier\w* | ab \s jetzt | nenn\w* \s mich | gedächtnis | erinner\w* ) \b"""
)
GERMAN = _pattern(
    r"""\b (?: merk\w* | vergiss | vergessen | behalte? | notiere? | nenne? | lösche?
      | denke? (?: \s \w+ ){0,2} \s (?: daran | dran ) | gedächtnis | erinner\w* ) \b"""
)
ASKS_RECALL = _pattern(
    r"""(?: (?: do | did | can | could ) \s you \s (?: still \s )? remember \b (?! ,? \s that \b )
      | (?: remember | don['’]?t \s (?: you \s )? remember ) \b [^?.!]* \? $
      | what \s (?: do \s you | did \s i ) \b | erinnerst \s du | weißt \s du | was \s weißt )"""
)
"""A question what is remembered."""
OWN_MEMORY = _pattern(
    r"""\b (?: (?: i | we ) \s (?: (?! you\b | would\b ) [\w'’]+ \s ){0,3} (?: remember | forget )
      | ich \s (?: (?! du\b ) \w+ \s ){0,3} (?: vergesse | vergessen | erinnere ) ) \b"""
)
"""The person remembers or forgets, not the model."""
PERSON = _pattern(
    r"""\b (?: i | my | me | mine | we | our | us
      | ich | mein\w* | mir | mich | wir | uns | unser\w* ) \b"""
)

SENTENCE_END = re.compile(r"[.!?]+[\"'”“’)]*\s+(?=[^\Wa-zäöüß_])")
ABBREVIATIONS = frozenset(
    ("dr", "mr", "mrs", "ms", "prof", "st", "nr", "e.g", "i.e", "z.b", "d.h", "bzw", "ca", "u.a")
)
ORDINAL = re.compile(r"\d{1,2}|[A-Z]")
QUESTION_TAIL = _pattern(
    r"""(?: , \s (?: please | ok(?:ay)? | bitte | ja ) | \s (?: please | bitte ) ) \s? [?.!]* $"""
)
