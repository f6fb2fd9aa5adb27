"""Finds phone numbers: by their form where it is enough, else by the words around them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

SPACE = "[ \u00a0\u202f]"
SEPARATOR = "[ \u00a0\u202f./\u2010-\u2013-]"
DIGITS = rf"(?:{SEPARATOR}{{0,3}}(?:\({SPACE}?)?[0-9]\)?)"
"""One digit with what may stand before it. Begins in only one way, so nothing is tried twice."""
BEFORE = r"(?<![0-9A-Za-z_+])"
NO_NUMBER_BEFORE = r"(?<![0-9][./\u2010-\u2013-])(?<![0-9] )"
AFTER = r"(?![0-9A-Za-z_])"
EXTENSION = rf"(?:{SPACE}?,?{SPACE}?(?:x|ext\.?|extension|Durchwahl|DW){SPACE}?[0-9]{{1,6}})?"

COUNTRY = (
    "(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    "|2[1-689][0-9]|3[578][0-9]|42[0-9]|5[09][0-9]|6[7-9][0-9]|8[0578][0-9]|9[679][0-9])"
)
"""Calling codes of E.164."""
INTERNATIONAL = re.compile(
    rf"{BEFORE}(?<![0-9)]{SPACE})\(?\+{SPACE}?\(?{COUNTRY}\)?{DIGITS}{{6,13}}{EXTENSION}{AFTER}",
    re.I,
)
DIALLED_ABROAD = re.compile(
    rf"{BEFORE}{NO_NUMBER_BEFORE}(?:00|011){SEPARATOR}?{COUNTRY}{DIGITS}{{7,13}}{EXTENSION}{AFTER}",
    re.I,
)
AMERICAN = re.compile(
    rf"{BEFORE}{NO_NUMBER_BEFORE}(?:1{SEPARATOR})?"
    rf"(?:\([0-9]{{3}}\){SEPARATOR}?|[0-9]{{3}}[.\u2010-\u2013-])"
    rf"[0-9]{{3}}{SEPARATOR}[0-9]{{4}}{EXTENSION}{AFTER}(?![./-][0-9])",
    re.I,
)
TRUNK = re.compile(
    rf"{BEFORE}{NO_NUMBER_BEFORE}\(?0[1-9][0-9]{{0,4}}\)?(?:(?:(?<=\))|{SEPARATOR}{{1,3}})[0-9]{{2,9}})"
    rf"(?:{SEPARATOR}{{1,2}}[0-9]{{2,6}}){{0,4}}{EXTENSION}{AFTER}(?![./-][0-9])",
    re.I,
)
"""An area code or the code of a mobile network with the 0 that most countries dial before it."""
UNBROKEN = re.compile(rf"{BEFORE}{NO_NUMBER_BEFORE}0(?:[67][0-9]{{8}}|[1-9][0-9]{{9}}){AFTER}")
BRAZILIAN = re.compile(rf"{BEFORE}{NO_NUMBER_BEFORE}\([1-9][0-9]\) ?9?[0-9]{{4}}-[0-9]{{4}}{AFTER}")
RUSSIAN = re.compile(
    rf"{BEFORE}{NO_NUMBER_BEFORE}8{SEPARATOR}?\([0-9]{{3}}\){SEPARATOR}?"
    rf"[0-9]{{3}}{SEPARATOR}[0-9]{{2}}{SEPARATOR}[0-9]{{2}}{AFTER}"
)
NATIONAL = (DIALLED_ABROAD, AMERICAN, TRUNK, UNBROKEN, BRAZILIAN, RUSSIAN)
ANY = re.compile(rf"{BEFORE}(?<![0-9]\.)\(?[0-9]{DIGITS}{{6,14}}{EXTENSION}{AFTER}", re.I)
"""Counts only where the words around it speak of a phone."""

DATE = re.compile(
    r"\(?(?:[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2,4}|[0-9]{4}([./-])[0-9]{1,2}\2[0-9]{1,2})"
    r"(?![./-]?[0-9])"
    r"|(?:19|20)[0-9]{2}[/\u2013-](?:19|20)[0-9]{2}(?![0-9])"
)
"""Of a day, or of a few years."""
ZIP_CODE = re.compile("[0-9]{5}-[0-9]{4}$")
"""Of the United States."""
ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}$")
"""Of a computer."""
DECIMAL = re.compile(r"\+[0-9]{1,3}\.[0-9]+$")
"""A coordinate, more often than a phone number in the form of domain registries."""

WORD = re.compile(r"[^\W_]+")
SPEAKING_OF_PHONES = """
    phone phones telephone telephones tel mobile cell cellphone landline handy handynummer
    telefon telefonnummer telefonisch rufnummer mobil mobilnummer festnetz fax telefax call
    called calling calls callback ring dial dialed dialled sms whatsapp signal telegram
    viber wechat reach reached reachable contact contacted hotline voicemail pager anruf
    anrufen angerufen rückruf erreich erreichen erreichbar erreichst erreicht ruf rufe rufen
    durchwahl telephoner téléphone téléphoner téléphonez portable appeler appelez appelle
    móvil movil teléfono telefono celular llamar llama llame llámame cellulare chiama
    chiamami telefoon bel telefone ligar ligue puhelin телефон телефону телефона звоните
    позвоните 電話 电话 手机 전화
"""
PHONE_WORDS = frozenset(SPEAKING_OF_PHONES.split())
PHONE_PAIRS = frozenset(
    f"{first} {second}"
    for firsts, seconds in {
        "text texting texted": "me us him her them",
        "my his her your our their new old": "number",
        "meine deine ihre seine unsere neue": "nummer",
        "message messages answering": "at to",
        "whats voice": "app mail",
    }.items()
    for first in firsts.split()
    for second in seconds.split()
)
SPEAKING_OF_OTHERS = """
    order orders invoice invoices ticket tickets tracking shipment parcel reference ref case
    cases serial isbn issn ean upc gtin sku part article item model version build release id
    ids account customer policy claim transaction timestamp epoch port pid imei iccid hash
    commit checksum patent zip plz coordinates coordinate price total cost amount sum
    population page doi pmid asin auftrag commande facture pedido factura equals pieces
    stück tax ssn bytes seconds rows ip ipv4
"""
ID_WORDS = frozenset(SPEAKING_OF_OTHERS.split())
CODES = frozenset({"imei", "iccid", "isbn", "issn", "iban", "ssn", "ean"})
"""Outweigh a word for phones that is nearer: the IMEI of a phone is no phone number."""
ID_PAIRS = frozenset({"call it", "called it", "calls it", "calling it"})
ID_STARTS = (
    "lotto", "lottery", "bestell", "rechnung", "kunden", "vorgang", "akten", "sendung", "artikel",
    "seriennummer", "auftrag", "teile", "steuer",
)  # fmt: skip
LABEL_AFTER = re.compile(
    rf"{SPACE}?[-\u2013,(]?{SPACE}?(?:office|mobile|cell|fax|home|work|mobil|privat|tel|dienstlich)\b",
    re.I,
)
UNIT_AFTER = re.compile(
    rf"{SPACE}?(?:[%€$£=*]|(?:[mkg]?s|sec\w*|min\w*|hours|days|[kmg]i?b|bytes|k?m|kg|px|pixels|tokens"
    r"|rows|times|mal|people|users|lines|eur|euros?|usd|dollars)(?!\w))",
    re.I,
)
NUM_CHARS_BEFORE = 60
NUM_CHARS_BESIDE = 28
"""So near, a word for another kind of number outweighs a number that looks like a phone's."""


class PhoneNumber(NamedTuple):
    start: int
    end: int


def find_phone_numbers(text: str) -> Iterator[PhoneNumber]:
    """Yields phone numbers. One may be found twice, and two may overlap."""
    for match in INTERNATIONAL.finditer(text):
        if not DECIMAL.match(match[0]):
            yield _trim(match)
    for pattern in NATIONAL:
        for match in pattern.finditer(text):
            if _has_length(match[0]) and not _is_other_number(text, match):
                yield _trim(match)
    for match in ANY.finditer(text):
        is_other = any(form.match(match[0]) for form in (DATE, ADDRESS, ZIP_CODE))
        if not is_other and _is_named_phone(text, match):
            yield _trim(match)


def normalize_phone_number(number: str) -> str:
    """Returns the digits, with + for an international number."""
    number = re.sub(r"\(0\)", "", number)
    digits = re.sub("[^0-9]", "", number)
    if number.lstrip("( ").startswith("+"):
        return "+" + digits
    return re.sub("^(?:00|011)(?=[1-9])", "+", digits)


def _trim(match: re.Match[str]) -> PhoneNumber:
    """Leaves out brackets around the number."""
    number = match[0].rstrip(")")
    num_before = number.startswith("(") and ")" not in number
    return PhoneNumber(match.start() + num_before, match.start() + len(number))


def _has_length(number: str) -> bool:
    return 9 <= sum(char.isdigit() for char in number) <= 21


def _is_other_number(text: str, match: re.Match[str]) -> bool:
    nearest = _find_nearest_word(text, match.start(), NUM_CHARS_BESIDE)
    is_date = DATE.match(match[0]) or ZIP_CODE.match(match[0]) and nearest != "phone"
    return nearest == "id" or bool(is_date)


def _is_named_phone(text: str, match: re.Match[str]) -> bool:
    if LABEL_AFTER.match(text, match.end()):
        return True
    if UNIT_AFTER.match(text, match.end()):
        return False
    return _find_nearest_word(text, match.start(), NUM_CHARS_BEFORE) == "phone"


def _find_nearest_word(text: str, start: int, num_chars: int) -> str | None:
    words = WORD.findall(text[max(0, start - num_chars) : start].lower())
    if not CODES.isdisjoint(words):
        return "id"
    for first, word in zip(["", *words][-2::-1], words[::-1], strict=True):
        pair = f"{first} {word}"
        if word in ID_WORDS or word.startswith(ID_STARTS) or pair in ID_PAIRS:
            return "id"
        if word in PHONE_WORDS or pair in PHONE_PAIRS:
            return "phone"
    return None
