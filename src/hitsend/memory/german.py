"""Turns a German clause after "dass" into a main clause: "ich sonntags backe" becomes
"ich backe sonntags".

It changes only clauses whose subject and verb are certain, and leaves the others as written.
"""

import re

SUBJECT = re.compile(
    r"(?: ich | wir | (?: mein | meine | unser | unsere ) \s [^\W\d_]+ )(?= \s )",
    re.IGNORECASE | re.VERBOSE,
)
FINITE_VERBS = """
bin bist ist sind war waren habe hat haben hatte hatten heiße heißt heißen mag mögen möchte
möchten darf dürfen durfte kann können konnte will wollen wollte muss müssen musste soll sollen
werde wird werden wurde wohnt wohnen lebt leben isst trinkt spielt spielen arbeitet kommt geht
liebt hasst lernt studiert fährt liest schläft braucht
"""
VERBS = frozenset(FINITE_VERBS.split())
SEPARABLE_PREFIX = re.compile(
    r"(auf|an|ab|aus|ein|mit|vor|nach|um|weg|zurück|fern|teil|kennen)(?=[^\W\d_]{3,}en?$)"
)
"""A separable prefix moves to the end: "aufstehe" becomes "stehe … auf"."""
INSEPARABLE = frozenset({"antworte", "antwortete"})
REGULAR_ENDING = {"ich": re.compile(r"[a-zäöüß]{3,}e"), "wir": re.compile(r"[a-zäöüß]{3,}en")}
"""The ending of a regular verb, by its subject."""


def to_main_clause(clause: str) -> str:
    subject = SUBJECT.match(clause)
    rest = clause[subject.end() :].split() if subject else []
    if not subject or len(rest) < 2 or "," in clause or ";" in clause:
        return clause
    *between, verb = rest
    ending = clause[-1] if clause[-1] in ".!" else ""
    verb = verb.removesuffix(ending)
    if rest[0].casefold() in VERBS or not _is_verb(verb, subject[0]):
        return clause
    verb, prefix = _split_prefix(verb)
    return " ".join([subject[0], verb, *between, *prefix]) + ending


def _is_verb(word: str, subject: str) -> bool:
    regular = REGULAR_ENDING.get(subject.casefold())
    return word in VERBS or bool(regular and regular.fullmatch(word))


def _split_prefix(verb: str) -> tuple[str, list[str]]:
    prefix = SEPARABLE_PREFIX.match(verb)
    if verb in VERBS | INSEPARABLE or not prefix:
        return verb, []
    return verb[prefix.end() :], [prefix[0]]
