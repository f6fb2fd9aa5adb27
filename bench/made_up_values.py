"""Makes up personal data and keys, in the ways in which people write them, and numbers and words
that only look like them. Nothing here knows how the detectors work.

In a format, `#` is any digit, `%` one from 2 to 9, `@` a capital letter, `?` a letter or digit.
"""

import base64
import hashlib
import random
import string
import tomllib
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Maker: TypeAlias = Callable[[random.Random], str]

ALPHANUMERIC = string.ascii_letters + string.digits
FORMAT_CHARS: Mapping[str, str] = {
    "#": string.digits,
    "%": "23456789",
    "@": string.ascii_uppercase,
    "?": ALPHANUMERIC,
}

CARDS = {
    16: "4 4 4 51 53 55 2221 2720 6011 65 645 3530 3589 62",
    15: "34 37",
    14: "300 305 36 38",
    19: "4 62",
}
"""By length, how their numbers begin."""
FILE = tomllib.loads((Path(__file__).parent / "redaction.toml").read_text())
PHONES: Mapping[str, Sequence[str]] = FILE["phones"]
IBANS: Mapping[str, str] = FILE["ibans"]
FORMATS: Mapping[str, Sequence[str]] = FILE["formats"]
FIRST_NAMES: Sequence[str] = FILE["names"]["first"]
LAST_NAMES: Sequence[str] = FILE["names"]["last"]
DOMAINS: Sequence[str] = FILE["names"]["domains"]

SECRET = "\x01"
"""Around the secret part of what is made up."""
KEYS: Mapping[str, Maker] = {
    "OpenAI": lambda rng: "sk-proj-" + letters(rng, 48),
    "Anthropic": lambda rng: "sk-ant-api03-" + letters(rng, 80),
    "hitsend": lambda rng: "hs-" + letters(rng, 43),
    "GitHub": lambda rng: "ghp_" + letters(rng, 36),
    "GitHub, fine-grained": lambda rng: f"github_pat_{letters(rng, 22)}_{letters(rng, 59)}",
    "GitLab": lambda rng: "glpat-" + letters(rng, 20),
    "AWS": lambda rng: "AKIA" + "".join(rng.choices(string.ascii_uppercase + "234567", k=16)),
    "AWS, secret": lambda rng: f"aws_secret_access_key = {SECRET}{letters(rng, 40)}{SECRET}",
    "Google": lambda rng: "AIza" + letters(rng, 35),
    "Slack": lambda rng: f"xoxb-{digits(rng, 12)}-{digits(rng, 12)}-{letters(rng, 24)}",
    "Stripe": lambda rng: "sk_live_" + letters(rng, 24),
    "Hugging Face": lambda rng: "hf_" + letters(rng, 34),
    "npm": lambda rng: "npm_" + letters(rng, 36),
    "PyPI": lambda rng: "pypi-AgEIcHlwaS5vcmc" + letters(rng, 120),
    "SendGrid": lambda rng: f"SG.{letters(rng, 22)}.{letters(rng, 43)}",
    "Twilio": lambda rng: "SK" + rng.randbytes(16).hex(),
    "Telegram": lambda rng: f"{digits(rng, 10)}:AA{letters(rng, 33)}",
    "Groq": lambda rng: "gsk_" + letters(rng, 52),
    "DigitalOcean": lambda rng: "dop_v1_" + rng.randbytes(32).hex(),
    "Shopify": lambda rng: "shpat_" + rng.randbytes(16).hex(),
    "JWT": lambda rng: make_jwt(rng),
    "PEM": lambda rng: make_private_key(rng),
    "address": lambda rng: f"postgres://app:{SECRET}{letters(rng, 16)}{SECRET}@db.example.org/main",
    "setting": lambda rng: f"API_KEY={SECRET}{letters(rng, 32)}{SECRET}",
    "JSON": lambda rng: f'"client_secret": "{SECRET}{letters(rng, 40)}{SECRET}"',
    "header": lambda rng: f"Authorization: Bearer {SECRET}{letters(rng, 40)}{SECRET}",
    "password": lambda rng: f"password: {SECRET}{letters(rng, 20)}{SECRET}",
}


def fill_format(rng: random.Random, pattern: str) -> str:
    return "".join(
        rng.choice(FORMAT_CHARS[char]) if char in FORMAT_CHARS else char for char in pattern
    )


def letters(rng: random.Random, num: int) -> str:
    return "".join(rng.choices(ALPHANUMERIC, k=num))


def digits(rng: random.Random, num: int) -> str:
    return str(rng.randint(1, 9)) + "".join(rng.choices(string.digits, k=num - 1))


def make_card(rng: random.Random) -> str:
    length = rng.choices([16, 15, 14, 19], [80, 12, 4, 4])[0]
    number = rng.choice(CARDS[length].split())
    number += "".join(rng.choices(string.digits, k=length - 1 - len(number)))
    number += str(-sum(_luhn_value(i, digit) for i, digit in enumerate(reversed(number))) % 10)
    groups = [4, 6, length - 10] if length in (14, 15) else [4] * (length // 4) + [length % 4]
    return rng.choices(
        [number, _group(number, groups, " "), _group(number, groups, "-")], [3, 5, 2]
    )[0]


def _luhn_value(i: int, digit: str) -> int:
    value = int(digit) * (2 - i % 2)
    return value - 9 if value > 9 else value


def _group(text: str, sizes: list[int], separator: str) -> str:
    groups, at = [], 0
    for size in sizes:
        groups.append(text[at : at + size])
        at += size
    return separator.join(filter(None, groups))


def make_email(rng: random.Random) -> str:
    first, last = rng.choice(FIRST_NAMES), rng.choice(LAST_NAMES)
    number = rng.randint(1, 99)
    name = rng.choice(
        [
            f"{first}.{last}",
            f"{first}{number}",
            f"{first[0]}{last}",
            f"{first}_{last}",
            f"{first}+news",
            f"{last}-{first}",
            first.title() + last.title(),
            f"{first}.{last}{number}",
            f"o'{last}",
        ]
    )
    address = f"{name}@{rng.choice(DOMAINS)}"
    return address.upper() if rng.random() < 0.05 else address


def make_ssn(rng: random.Random) -> str:
    area = rng.choice([number for number in range(1, 900) if number != 666])
    number = f"{area:03}-{rng.randint(1, 99):02}-{rng.randint(1, 9999):04}"
    return number.replace("-", rng.choices(["-", " ", ""], [8, 1, 1])[0])


def make_iban(rng: random.Random) -> str:
    country = rng.choice(list(IBANS))
    account = fill_format(rng, IBANS[country]).upper()
    numbers = "".join(str(int(char, 36)) for char in f"{account}{country}00")
    iban = f"{country}{98 - int(numbers) % 97:02}{account}"
    grouped = " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))
    return rng.choices([iban, grouped, iban.lower(), grouped.replace(" ", "-")], [4, 5, 1, 1])[0]


def make_phone(rng: random.Random) -> str:
    return fill_format(rng, rng.choice(rng.choice(list(PHONES.values()))))


def make_bare_phone(rng: random.Random) -> str:
    return fill_format(rng, rng.choice(FORMATS["bare_phone"]))


def make_key(rng: random.Random) -> str:
    return KEYS[rng.choice(list(KEYS))](rng)


def make_jwt(rng: random.Random) -> str:
    parts = (f'{{"alg":"HS256","kid":"{digits(rng, 6)}"}}', f'{{"sub":"{digits(rng, 12)}"}}')
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, letters(rng, 43)])


def make_private_key(rng: random.Random) -> str:
    kind = rng.choice(["", "RSA ", "EC ", "OPENSSH "])
    body = "\n".join(letters(rng, 64) for _ in range(rng.randint(3, 25)))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


def make_isbn13(rng: random.Random) -> str:
    body = "978" + digits(rng, 9)
    check = -sum(int(digit) * (3 if i % 2 else 1) for i, digit in enumerate(body)) % 10
    return _group(f"{body}{check}", [3, 1, 4, 4, 1], rng.choice(["-", " ", ""]))


def make_isbn10(rng: random.Random) -> str:
    return _group(digits(rng, 10), [1, 3, 5, 1], rng.choice(["-", " ", ""]))


def make_imei(rng: random.Random) -> str:
    body = "35" + digits(rng, 12)
    return body + str(-sum(_luhn_value(i, digit) for i, digit in enumerate(reversed(body))) % 10)


def make_wrong_iban(rng: random.Random) -> str:
    iban = make_iban(rng)
    last = next(i for i in range(len(iban) - 1, 0, -1) if iban[i].isdigit())
    return f"{iban[:last]}{(int(iban[last]) + 1) % 10}{iban[last + 1 :]}"


def make_wrong_card(rng: random.Random) -> str:
    card = make_card(rng)
    return f"{card[:-1]}{(int(card[-1]) + rng.randint(1, 9)) % 10}"


def make_price(rng: random.Random) -> str:
    number = f"{rng.randint(1, 9_999_999):,}.{rng.randint(0, 99):02}"
    return rng.choice([f"${number}", f"{number} EUR", number.replace(",", " ") + " €"])


def make_sum(rng: random.Random) -> str:
    first, second = rng.randint(1, 10**10), rng.randint(1, 10**10)
    return rng.choice(
        [f"{first} + {second} = {first + second}", f"{first} * 3", f"2**64 - {second}"]
    )


def make_hash(rng: random.Random) -> str:
    return hashlib.new(rng.choice(["sha1", "sha256", "md5"]), rng.randbytes(8)).hexdigest()


def make_big_number(rng: random.Random) -> str:
    number = f"{rng.randint(10**6, 10**13):,}"
    return number.replace(",", rng.choice([",", " ", "", "_"]))


def make_ip(rng: random.Random) -> str:
    return ".".join(str(rng.randint(1, 254)) for _ in range(4))


def make_date(rng: random.Random) -> str:
    year, month, day = rng.randint(1950, 2035), rng.randint(1, 12), rng.randint(1, 28)
    time = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}"
    return rng.choice(
        [
            f"{year}-{month:02}-{day:02}",
            f"{day:02}.{month:02}.{year}",
            f"{month:02}/{day:02}/{year}",
            f"{year}-{month:02}-{day:02} {time}:17",
            f"{day:02}-{month:02}-{year} {time}",
            f"{year}{month:02}{day:02}T{time.replace(':', '')}00Z",
            f"{year - 4}-{year}",
        ]
    )


DECOYS: Mapping[str, Maker] = {
    "ip": make_ip,
    "ipv6": lambda rng: ":".join(rng.randbytes(2).hex() for _ in range(8)),
    "mac": lambda rng: rng.randbytes(6).hex("-"),
    "date": make_date,
    "isbn": lambda rng: rng.choice([make_isbn13, make_isbn10])(rng),
    "price": make_price,
    "hash": make_hash,
    "commit": lambda rng: rng.randbytes(20).hex()[: rng.choice([7, 12, 40])],
    "uuid": lambda rng: str(uuid.UUID(bytes=rng.randbytes(16), version=4)),
    "math": make_sum,
    "timestamp": lambda rng: str(rng.choice([1, 1000]) * rng.randint(14 * 10**8, 19 * 10**8)),
    "imei": make_imei,
    "coordinates": lambda rng: f"{rng.uniform(-80, 80):+.6f}, {rng.uniform(-170, 170):.6f}",
    "wrong_iban": make_wrong_iban,
    "wrong_card": make_wrong_card,
    "package": lambda rng: f"{rng.choice(FIRST_NAMES)}-kit@{rng.randint(0, 9)}.{digits(rng, 2)}.0",
    "repository": lambda rng: f"git@git.example.org:{rng.choice(LAST_NAMES)}/tool.git",
    "handle": lambda rng: "@" + rng.choice(FIRST_NAMES) + rng.choice(LAST_NAMES),
    "image": lambda rng: f"icon@{rng.randint(2, 3)}x.png",
    "pi": lambda rng: "3.14159265358979323846"[: rng.randint(8, 22)],
    "big": make_big_number,
    "hex": lambda rng: f"0x{rng.randbytes(8).hex()}",
}


def make_decoy(rng: random.Random, name: str) -> str:
    if name in DECOYS:
        return DECOYS[name](rng)
    return fill_format(rng, rng.choice(FORMATS[name]))
