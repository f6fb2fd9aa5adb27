"""A German clause after "dass", as a sentence of its own: "ich sonntags backe" is no sentence,
"ich backe sonntags" is.

Only where it is plain which words are the subject and which one is the verb. What is not plain
stays as the person wrote it.
"""

import re

SUBJECT = re.compile(
    r"(?: ich | wir | (?: mein | meine | unser | unsere ) \s [^\W\d_]+ )(?= \s )",
    re.IGNORECASE | re.VERBOSE,
)
FINITE = """
bin bist ist sind war waren habe hat haben hatte hatten heiße heißt heißen mag mögen möchte
möchten darf dürfen durfte kann können konnte will wollen wollte muss müssen musste soll sollen
werde wird werden wurde wohnt wohnen lebt leben isst trinkt spielt spielen arbeitet kommt geht
liebt hasst lernt studiert fährt liest schläft braucht
"""
VERBS = frozenset(FINITE.split())
PREFIX = re.compile(
    r"(auf|an|ab|aus|ein|mit|vor|nach|um|weg|zurück|fern|teil|kennen)(?=[^\W\d_]{3,}en?$)"
)
"""Comes off the verb and stands at the end: "aufstehe", "stehe … auf"."""
WHOLE = frozenset({"antworte", "antwortete"})
REGULAR = {"ich": re.compile(r"[a-zäöüß]{3,}e"), "wir": re.compile(r"[a-zäöüß]{3,}en")}
"""How a verb ends, of whom there is no doubt."""


def main_clause(clause: str) -> str:
    subject = SUBJECT.match(clause)
    rest = clause[subject.end() :].split() if subject else []
    if not subject or len(rest) < 2 or "," in clause or ";" in clause:
        return clause
    *between, verb = rest
    ending = clause[-1] if clause[-1] in ".!" else ""
    verb = verb.removesuffix(ending)
    if rest[0].casefold() in VERBS or not _is_verb(verb, subject[0]):
        return clause
    verb, prefix = _parted(verb)
    return " ".join([subject[0], verb, *between, *prefix]) + ending


def _is_verb(word: str, subject: str) -> bool:
    regular = REGULAR.get(subject.casefold())
    return word in VERBS or bool(regular and regular.fullmatch(word))


def _parted(verb: str) -> tuple[str, list[str]]:
    prefix = PREFIX.match(verb)
    if verb in VERBS | WHOLE or not prefix:
        return verb, []
    return verb[prefix.end() :], [prefix[0]]
