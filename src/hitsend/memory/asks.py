"""Does a message ask, in so many words, to remember or forget something about the person?

In English and German, and only where it begins so: "remember that I …", "vergiss, dass ich …".
Whoever writes about remembering, asks what is remembered, or reminds the model of something in
its task is not taken at the word. What is not understood here is left to the model, see `hints`.
"""

import re
from typing import TypeAlias

import msgspec

from hitsend.memory.german import main_clause
from hitsend.memory.orders import VERB

MOST_CHARS = 600
"""Of what is to be remembered. Whoever pastes a page does not ask in so many words."""

MOST_HINTING_CHARS = 1_000
"""Of a message that may ask for it at all."""


class Remember(msgspec.Struct, frozen=True):
    text: str
    """In the person's own words: "I bake on Sundays.\""""


class Forget(msgspec.Struct, frozen=True):
    about: str
    is_plain: bool = True
    """Surely asks for it. Where not, it does if something that is remembered says so."""


class ForgetAll(msgspec.Struct, frozen=True):
    """Everything. That is not done by the way, in a chat."""


Ask: TypeAlias = Remember | Forget | ForgetAll


def find_ask(message: str) -> Ask | None:
    line = message.strip().partition("\n")[0][:MOST_HINTING_CHARS]
    asked = POLITE.sub("", " ".join(line.split()), count=1)
    if not asked or "`" in line:
        return None
    if ALL.fullmatch(asked.rstrip(" .!?")):
        return ForgetAll()
    return _remember(asked) or _forget(asked)


def says_more(message: str) -> bool:
    """Whether something follows the sentence that asks for it."""
    if len(message) > MOST_HINTING_CHARS:
        return True
    asked = POLITE.sub("", " ".join(message.split()), count=1)
    return _first_sentence(asked) != asked and not AFTERWARDS.fullmatch(asked)


def is_german(message: str) -> bool:
    """By the words that ask for it."""
    return GERMAN.search(message) is not None


def is_fact(text: str) -> bool:
    """Whether it says something of the person that could be remembered."""
    return _is_fact(text) and bool(STATES.search(text) or THEIRS.match(text))


def hints(message: str) -> bool:
    """Whether it may ask for it in other words: then the model is told how to. Whoever pastes
    a page asks for something else."""
    if len(message) > MOST_HINTING_CHARS or RECALLS.match(message.strip()):
        return False
    if THEIR_OWN.search(message):
        return False
    return HINT.search(message) is not None and PERSON.search(message) is not None


def _remember(asked: str) -> Remember | None:
    for pattern in REMEMBERS:
        if found := pattern.match(asked):
            told, said = found["fact"], found.groupdict()
            fact = told.strip() if said.get("colon") else _first_sentence(told)
            is_told = _is_fact(fact) and ("bare" not in said or _states(fact, said))
            return Remember(_sentence(fact)) if is_told else None
    found = AFTERWARDS.fullmatch(asked)
    fact = found["fact"] if found else ""
    is_one = fact != "" and _first_sentence(fact) == fact
    return Remember(_sentence(fact)) if is_one and _is_fact(fact) else None


def _states(fact: str, said: dict[str, str]) -> bool:
    """ "Remember my name?" names something, and says nothing of it."""
    is_question = fact.endswith("?") and not said["asking"]
    return not is_question and STATES.search(fact) is not None


def _forget(asked: str) -> Forget | None:
    for pattern in FORGETS:
        if found := pattern.match(asked):
            about = FURTHER.split(_first_sentence(found["about"]), maxsplit=1)[0].rstrip(" .!?")
            if TASK.search(about) or len(about) > MOST_CHARS:
                return None
            return Forget(about, "clause" not in found.groupdict())
    return None


def _is_fact(fact: str) -> bool:
    """About the person, and not about what was just said or is to be written."""
    is_about_them = FIRST_PERSON.match(fact) or THEIRS.match(fact)
    return bool(is_about_them) and len(fact) <= MOST_CHARS and not TASK.search(fact)


def _first_sentence(text: str) -> str:
    """Up to where another sentence begins."""
    for end in SENTENCE_END.finditer(text):
        last_word = text[: end.start()].rsplit(None, 1)[-1]
        is_short = last_word.casefold() in ABBREVIATIONS or ORDINAL.fullmatch(last_word)
        if end[0][0] != "." or not is_short:
            return text[: end.start() + 1].strip()
    return text.strip()


def _sentence(fact: str) -> str:
    """As a sentence of its own."""
    fact = main_clause(QUESTION_TAIL.sub("", fact).rstrip(" ?"))
    whole = fact[0].upper() + fact[1:]
    return whole if whole[-1] in ".!…" else f"{whole}."


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


POLITE = _pattern(
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

REMEMBERS = (
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
"""The words that ask, and what they ask for."""
AFTERWARDS = _pattern(
    rf"""(?P<fact> (?: i | my | we | our | ich | mein\w* | wir | unser\w* ) \b [^?]*? )
        (?: [.,;!] | \s [–—-] ){{1,3}} \s
        (?: (?: so | and | please | also | und | bitte ) ,? \s )*
        (?: {ASKING} {REMEMBER} \s (?: this | that | it ) | {MERKE} \s (?: das | dies )
          | merke? \s dir \s (?: das | dies ) {BITTE} | vergiss \s das {BITTE} \s nicht )
        (?: ,? \s (?: please | bitte ) )? [.!]*"""
)
"""What was just said is meant."""
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
FORGETS = (
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
"""Where something else begins."""
ALL = _pattern(
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
"""Luna is my cat."""
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
"""What was just said, or is to be written: nothing that outlasts the conversation."""

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
RECALLS = _pattern(
    r"""(?: (?: do | did | can | could ) \s you \s (?: still \s )? remember \b (?! ,? \s that \b )
      | (?: remember | don['’]?t \s (?: you \s )? remember ) \b [^?.!]* \? $
      | what \s (?: do \s you | did \s i ) \b | erinnerst \s du | weißt \s du | was \s weißt )"""
)
"""Asks what is remembered."""
THEIR_OWN = _pattern(
    r"""\b (?: (?: i | we ) \s (?: (?! you\b | would\b ) [\w'’]+ \s ){0,3} (?: remember | forget )
      | ich \s (?: (?! du\b ) \w+ \s ){0,3} (?: vergesse | vergessen | erinnere ) ) \b"""
)
"""It is the person who remembers or forgets."""
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
