"""Personal data by its form, its checksum, and the words around it."""

import time

import pytest

from hitsend.safety import find_personal_data

FOUND = {
    "card": [
        "my card is 4111 1111 1111 1111 12/27 123",
        "4111\u00a01111\u00a01111\u00a01111",
        "id,number,year\n12,5500000000000004,2027",
        "Maestro 6304 0000 0000 0000",
        "card: 3782 822463 10005",
        "card 4111 - 1111 - 1111 - 1111",
    ],
    "email": [
        "mailto:jo.o'neil+x@mail.example.co.uk",
        "jörg@müller.de",
        "name='jo@example.org'",
        "_jo@example.org_",
        "jo [at] example [dot] org",
        "Write to jo@example.org.",
    ],
    "ssn": ["123-45-6789", "SSN 123456789", "social security number: 123 45 6789"],
    "iban": [
        "DE89 3704 0044 0532 0130 00",
        "gb29nwbk60161331926819",
        "from 20 FR14 2004 1010 0505 0001 3M02 606 to you",
        "NO93 8601 1117 947 now",
    ],
    "tax_id": ["Meine Steuer-ID ist 86 095 742 719", "IdNr. 86095742719"],
    "phone": [
        "+1 212 555 0147",
        "+49 (0)30 123-4567",
        "+44 20 7946 0958",
        "0049 30 12345678",
        "(212) 555-0147",
        "212.555.0147 ext. 12",
        "030 1234567",
        "Fax.: +49 (0) 30 - 1234 567",
        "Tel 0 30 / 12 34 56",
        "0171/1234567",
        "06 12 34 56 78",
        "(11) 91234-5678",
        "8 (495) 123-45-67",
        "03-1234-5678",
        "Call me at 5551234567",
        "My number is 612 345 678",
        "Ruf mich an: 4711 0815 3",
        "555-1234 (office)",
    ],
    "key": [
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKq81vB0m",
        "Authorization: Bearer 8d7Zk3vQ81bLmN0pRsTuVw",
        "password: 'Zk3vQ81bLmN0pRsT'",
        "123456789:AAHk3vQ81bLmN0pRsTuVwXyZ12abcdEFgh4",
    ],
}
NOT_FOUND = [
    "4111 1111 1111 1112",
    "1000 2000 3000 4000 5000",
    "1763596277000",
    "ISBN 978-3-16-148410-0",
    "ISBN 0-306-40615-2",
    "IMEI 353879234252633",
    "git@github.com:hitsend/hitsend.git",
    "https://jo@example.org/",
    "logo@2x.png",
    "npm i left-pad@1.3.0",
    "@jo@mastodon.example",
    "000-12-3456",
    "666-12-3456",
    "part 123-45-6789",
    "DE88 3704 0044 0532 0130 00",
    "GB82 WEST",
    "86095742719 pieces",
    "Order 212-555-0147",
    "Bestellnummer 030 1234567",
    "192.168.100.200",
    "01.02.2024 10:15",
    "2024-01-02 03:04:05",
    "1 234 567 890",
    "+48.8566140, 2.3522219",
    "3.14159265358979",
    "2147483648",
    "e35e9f5be6d661b970d1bde0addf80000273563f",
    "version 10.0.19045.3803",
    "10 + 4915112345678 = 4915112345688",
    "key = user_account_id_2024",
    "API_KEY=your-api-key-goes-here",
    "token: process.env.MY_SERVICE_TOKEN",
    "f(1234567890, 2)",
]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in FOUND.items() for text in texts]
)
def test_personal_data_is_found(kind: str, text: str) -> None:
    assert [one.kind for one in find_personal_data(text)] == [kind]


@pytest.mark.parametrize("text", NOT_FOUND)
def test_other_numbers_and_words_are_not_personal_data(text: str) -> None:
    assert [text[one.start : one.end] for one in find_personal_data(text)] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Card 4111 1111 1111 1111 12/27.", "4111 1111 1111 1111"),
        ("(call +49 30 1234567).", "+49 30 1234567"),
        ("from 20 FR14 2004 1010 0505 0001 3M02 606 to you", "FR14 2004 1010 0505 0001 3M02 606"),
        ("secret_key = 'Zk3vQ81bLmN0pRsT'.", "Zk3vQ81bLmN0pRsT"),
        ("email=jo@example.org,", "jo@example.org"),
    ],
)
def test_only_the_value_is_found(text: str, value: str) -> None:
    assert [text[one.start : one.end] for one in find_personal_data(text)] == [value]


def test_only_the_kinds_that_are_asked_for_are_found() -> None:
    text = "jo@example.org, 4111 1111 1111 1111"
    assert [one.kind for one in find_personal_data(text, ["card"])] == ["card"]


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "1 ",
        "a",
        "a.",
        "@",
        "a@",
        "a@b.",
        "(",
        "(0",
        "+1",
        "0 ",
        "4111 ",
        "DE89",
        "DE",
        "a-",
        "[",
    ]
    + ["[", "key=", "-----BEGIN PRIVATE KEY-----", "https://", "[at]", "a [at] ", "call 1", "9-"],
)
def test_no_text_makes_it_slow(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    find_personal_data(text)
    assert time.process_time() - start < 3
