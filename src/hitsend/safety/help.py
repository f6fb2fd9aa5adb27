"""What people are told: who listens when someone may hurt themselves, and why a text was stopped.

Lines are chosen by the person's time zone, else by their language. Only numbers that are long
established are listed; a country without one gets its emergency number and a directory of lines
in every country. The page translates explanations by their codes; their texts here are English.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal, TypeAlias, get_args

import msgspec


class CrisisLine(msgspec.Struct, frozen=True):
    """People who listen, free of charge or at the price of a local call."""

    name: str
    call: str
    text: str = ""
    """How to reach them by text message, if they can be."""


class Help(msgspec.Struct, frozen=True):
    """Where someone in distress finds people to talk to."""

    country: str
    """ISO 3166; empty if it is not known."""
    emergency: str
    """What to call in danger of life; empty if that is not known."""
    lines: tuple[CrisisLine, ...]
    directory: str = "findahelpline.com"
    """Lists lines of every country."""

    @property
    def sentence(self) -> str:
        """One line for a model to pass on."""
        lines = [f"{line.name}: {line.call}" for line in self.lines]
        danger = [f"in danger of life: {self.emergency}"] if self.emergency else []
        return "; ".join([*lines, *danger, f"other countries: {self.directory}"])


SAMARITANS = CrisisLine("Samaritans", "116 123")
LINES: Mapping[str, tuple[CrisisLine, ...]] = {
    "AT": (CrisisLine("Telefonseelsorge", "142"), CrisisLine("Rat auf Draht", "147")),
    "AU": (CrisisLine("Lifeline", "13 11 14", "0477 13 11 14"),),
    "BE": (
        CrisisLine("Zelfmoordlijn", "1813"),
        CrisisLine("Centre de Prévention du Suicide", "0800 32 123"),
    ),
    "BR": (CrisisLine("CVV", "188"),),
    "CA": (CrisisLine("9-8-8 Suicide Crisis Helpline", "988", "988"),),
    "CH": (CrisisLine("Die Dargebotene Hand", "143"), CrisisLine("Pro Juventute", "147")),
    "DE": (
        CrisisLine("TelefonSeelsorge", "0800 111 0 111"),
        CrisisLine("Nummer gegen Kummer", "116 111"),
    ),
    "DK": (CrisisLine("Livslinien", "70 201 201"),),
    "ES": (CrisisLine("Línea 024", "024"),),
    "FI": (CrisisLine("MIELI Kriisipuhelin", "09 2525 0111"),),
    "FR": (CrisisLine("Numéro national de prévention du suicide", "3114"),),
    "GB": (SAMARITANS, CrisisLine("Shout", "", "SHOUT to 85258")),
    "IE": (SAMARITANS,),
    "IN": (CrisisLine("Tele MANAS", "14416"),),
    "NL": (CrisisLine("113 Zelfmoordpreventie", "113"),),
    "NO": (CrisisLine("Mental Helse", "116 123"),),
    "NZ": (CrisisLine("1737, need to talk?", "1737", "1737"),),
    "PT": (CrisisLine("SNS 24", "808 24 24 24"),),
    "SE": (CrisisLine("Mind Självmordslinjen", "90101"),),
    "US": (CrisisLine("988 Suicide & Crisis Lifeline", "988", "988"),),
    "ZA": (CrisisLine("SADAG", "0800 567 567"),),
}
EUROPEAN_UNION = (
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU",
    "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
)  # fmt: skip
EMERGENCY: Mapping[str, str] = {
    **dict.fromkeys(EUROPEAN_UNION, "112"),
    **dict.fromkeys(("CH", "IN", "IS", "LI", "NO", "ZA"), "112"),
    **dict.fromkeys(("US", "CA", "MX"), "911"),
    "AU": "000",
    "BR": "192",
    "GB": "999",
    "NZ": "111",
}
LANGUAGES: Mapping[str, str] = {
    "da": "DK", "de": "DE", "fi": "FI", "fr": "FR", "it": "IT", "nb": "NO", "nl": "NL",
    "no": "NO", "pl": "PL", "sv": "SE",
}  # fmt: skip
"""Countries of languages that are mostly spoken in one. English, Spanish and Portuguese are not."""


def find_help(time_zone: str = "", language: str = "") -> Help:
    """`language` is what a browser sends first in Accept-Language, such as `de-AT`. Both may be
    empty or nonsense: then the directory alone is returned."""
    country = _country_of_zone(time_zone) or _country_of_language(language)
    return Help(country, EMERGENCY.get(country, ""), LINES.get(country, ()))


def _country_of_language(language: str) -> str:
    subtags = language.strip().replace("_", "-").split("-")
    regions = [tag.upper() for tag in subtags[1:] if len(tag) == 2 and tag.isalpha()]
    return regions[0] if regions else LANGUAGES.get(subtags[0].lower(), "")


def _country_of_zone(time_zone: str) -> str:
    zones = _read_zones()
    return zones.get(time_zone, "") or zones.get(_read_renamed().get(time_zone, ""), "")


@cache
def _read_zones() -> Mapping[str, str]:
    """Returns the country of each time zone."""
    rows = (line.split("\t") for line in _read_table("zone.tab") if not line.startswith("#"))
    return {row[2]: row[0] for row in rows}


@cache
def _read_renamed() -> Mapping[str, str]:
    """Returns the zone that an older name stands for: browsers still say `Asia/Calcutta`."""
    rows = (line.split() for line in _read_table("tzdata.zi") if line.startswith("L "))
    return {row[2]: row[1] for row in rows}


def _read_table(name: str) -> list[str]:
    return resources.files("tzdata.zoneinfo").joinpath(name).read_text("utf-8").splitlines()


ExplanationCode: TypeAlias = Literal[
    "harassment",
    "hate",
    "illicit",
    "weapons",
    "self_harm",
    "sexual",
    "minors",
    "violence",
    "jailbreak",
    "injection",
    "personal_data",
    "leak",
    "rule",
    "refusal",
    "unchecked",
    "answer",
    "other",
]
EXPLANATIONS: Mapping[ExplanationCode, str] = {
    "harassment": "This reads as an attack on a person, so it was not answered. If someone is "
    "attacking you, ask how to respond or how to report it.",
    "hate": "This demeans people for who they are, so it was not answered. Questions about "
    "hate, its history and how to counter it are welcome.",
    "illicit": "This asks for help with something that would harm others or break the law, so it "
    "was not answered. You can ask how it works in general, or how to protect yourself.",
    "weapons": "This asks how to make or use something that can kill or injure people, so it was "
    "not answered. History, law and safety are fine to ask about.",
    "self_harm": "You may be going through something very hard, and you do not have to do it "
    "alone. Please talk to someone now: the people below listen.",
    "sexual": "This asks for explicit sexual content, which this server does not provide. "
    "Questions about health, relationships and consent are fine.",
    "minors": "This sexualises a child, so it was not answered. If a child is in danger, call "
    "the police. If you worry about your own thoughts, stopitnow.org helps in confidence.",
    "violence": "This asks for help with hurting someone, or praises it, so it was not answered. "
    "If you or someone else is in danger, call the emergency number.",
    "jailbreak": "This asks the model to drop its rules, so it was not answered. Ask for what "
    "you want in plain words: most things are fine.",
    "injection": "A text in this conversation, such as a file or a web page, tries to give the "
    "assistant orders of its own.",
    "personal_data": "This contains personal data that this server does not pass on to a model.",
    "leak": "The answer contained something that must not be shared, such as a password or "
    "another person's data, so it was taken out.",
    "rule": "A rule of this server stops this text. Its administrators can tell you more.",
    "refusal": "The model declined to answer this.",
    "unchecked": "The safety check did not run, so nothing was sent. Please try again in a moment.",
    "answer": "The answer was becoming harmful, so it was stopped here.",
    "other": "This may be harmful, so it was not answered. If that is a mistake, please say so.",
}
CODES: Mapping[str, ExplanationCode] = {
    "harassment/threatening": "violence",
    "hate/threatening": "hate",
    "illicit/violent": "weapons",
    "self-harm": "self_harm",
    "self-harm/intent": "self_harm",
    "self-harm/instructions": "self_harm",
    "sexual/minors": "minors",
    "violence/graphic": "violence",
    "answer harm": "answer",
    "denied_phrase": "rule",
    "unavailable": "unchecked",
}
"""The code of each category, head and other reason whose name is not a code itself."""


class Explanation(msgspec.Struct, frozen=True):
    code: ExplanationCode
    text: str
    """Plain English, for clients that do not translate the code."""


def explain(name: str) -> Explanation:
    """`name` is a category, a head, a code, or anything else that stopped a text."""
    codes: Mapping[str, ExplanationCode] = {code: code for code in get_args(ExplanationCode)}
    code = CODES.get(name) or codes.get(name, "other")
    return Explanation(code, EXPLANATIONS[code])
