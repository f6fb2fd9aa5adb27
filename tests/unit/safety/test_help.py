"""Whoever may hurt themselves is told of people near them, and every stop is explained."""

from typing import get_args
from zoneinfo import available_timezones

import pytest

from hitsend.safety.heads import CATEGORIES, HEADS
from hitsend.safety.help import EMERGENCY, EXPLANATIONS, LINES, ExplanationCode, explain, find_help


@pytest.mark.parametrize(
    ("time_zone", "country", "number"),
    [
        ("America/Chicago", "US", "988"),
        ("America/Toronto", "CA", "988"),
        ("Europe/London", "GB", "116 123"),
        ("Europe/Dublin", "IE", "116 123"),
        ("Europe/Berlin", "DE", "0800 111 0 111"),
        ("Europe/Vienna", "AT", "142"),
        ("Europe/Zurich", "CH", "143"),
        ("Europe/Paris", "FR", "3114"),
        ("Europe/Madrid", "ES", "024"),
        ("America/Sao_Paulo", "BR", "188"),
        ("Europe/Amsterdam", "NL", "113"),
        ("Australia/Sydney", "AU", "13 11 14"),
        ("US/Pacific", "US", "988"),
        ("Asia/Calcutta", "IN", "14416"),
    ],
)
def test_a_time_zone_tells_the_lines_of_its_country(
    time_zone: str, country: str, number: str
) -> None:
    help = find_help(time_zone, "en-US")
    assert help.country == country
    assert help.lines[0].call == number
    assert number in help.sentence


@pytest.mark.parametrize(
    ("language", "country"),
    [("de", "DE"), ("de-AT", "AT"), ("en_GB", "GB"), ("zh-Hant-TW", "TW"), ("fr", "FR")],
)
def test_without_a_time_zone_the_language_tells(language: str, country: str) -> None:
    assert find_help("", language).country == country


@pytest.mark.parametrize(
    ("time_zone", "language"),
    [("", ""), ("UTC", "en"), ("Etc/GMT+5", "es"), ("../../etc/passwd", "-"), ("Mars/Base", "pt")],
)
def test_somebody_of_whom_nothing_is_known_gets_the_directory(
    time_zone: str, language: str
) -> None:
    help = find_help(time_zone, language)
    assert (help.country, help.lines, help.emergency) == ("", (), "")
    assert help.sentence == "other countries: findahelpline.com"


def test_a_country_of_the_union_without_a_listed_line_has_112() -> None:
    help = find_help("Europe/Rome")
    assert (help.lines, help.emergency) == ((), "112")


def test_every_country_with_a_line_has_an_emergency_number() -> None:
    assert LINES.keys() <= EMERGENCY.keys()
    assert all(line.call or line.text for lines in LINES.values() for line in lines)


def test_most_time_zones_have_a_country() -> None:
    regions = ("Africa/", "America/", "Asia/", "Australia/", "Europe/", "Pacific/")
    places = [zone for zone in available_timezones() if zone.startswith(regions)]
    unknown = [zone for zone in places if not find_help(zone).country]
    assert len(unknown) < len(places) / 50, unknown


@pytest.mark.parametrize("name", [*CATEGORIES, *HEADS, *get_args(ExplanationCode)])
def test_every_category_and_code_has_an_explanation(name: str) -> None:
    found = explain(name)
    assert found.text == EXPLANATIONS[found.code]
    assert found.text.endswith(".")


def test_intent_to_self_harm_is_met_with_help_and_not_with_a_wall() -> None:
    found = explain("self-harm/intent")
    assert found.code == "self_harm"
    assert "not answered" not in found.text


def test_what_is_unknown_is_explained_in_general() -> None:
    assert explain("a rule of tomorrow").code == "other"
    assert set(EXPLANATIONS) == set(get_args(ExplanationCode))
