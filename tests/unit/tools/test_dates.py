"""The tools `calculate_date` and `get_time`. It is Thursday, 19 November 2026, 7:30 in Berlin."""

from datetime import date, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitsend.errors import Refused
from hitsend.tools.calculate_date import make_calculate_date
from hitsend.tools.dates import (
    Duration,
    add_duration,
    add_months,
    count_business_days,
    count_months,
)
from hitsend.tools.get_time import make_get_time
from hitsend.tools.hosted_tool import Call, HostedTool

NOW = 1_795_069_800.0
BERLIN = Call(call_id="c1", user_id="u1", time_zone="Europe/Berlin")

calculate_date = make_calculate_date(lambda: NOW)
get_time = make_get_time(lambda: NOW)


async def call(tool: HostedTool, **arguments: str) -> str:
    return await call_as(BERLIN, tool, **arguments)


async def call_as(by: Call, tool: HostedTool, **arguments: str) -> str:
    return (await tool.run(by, msgspec.json.encode(arguments).decode())).output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", "Thursday, 19 November 2026 (2026-11-19), week 47 of 2026, day 323 of the year."),
        ("2026-12-24", "Thursday, 24 December 2026"),
        ("2026/12/24", "Thursday, 24 December 2026"),
        ("20261224", "Thursday, 24 December 2026"),
        ("2026-12-24T18:00:00Z", "Thursday, 24 December 2026"),
        ("24 December 2026", "Thursday, 24 December 2026"),
        ("Dec 24th, 2026", "Thursday, 24 December 2026"),
        ("Thursday, the 24th of December 2026", "Thursday, 24 December 2026"),
        ("24. Dezember 2026", "Thursday, 24 December 2026"),
        ("24.12.2026", "Thursday, 24 December 2026"),
        ("12/24/2026", "Thursday, 24 December 2026"),
        ("Christmas Eve", "Thursday, 24 December 2026"),
        ("christmas 2030", "Wednesday, 25 December 2030"),
        ("18 November", "Thursday, 18 November 2027"),
        ("feb 29", "Tuesday, 29 February 2028"),
        ("tomorrow", "Friday, 20 November 2026"),
        ("gestern", "Wednesday, 18 November 2026"),
        ("Friday", "Friday, 20 November 2026"),
        ("next Thursday", "Thursday, 26 November 2026"),
        ("this Thursday", "Thursday, 19 November 2026"),
        ("last Monday", "Monday, 16 November 2026"),
        ("2026-W01", "Monday, 29 December 2025"),
    ],
)
async def test_dates_are_read_as_people_write_them(text: str, expected: str) -> None:
    assert (await call(calculate_date, date=text)).startswith(expected)


async def test_today_is_that_of_the_person() -> None:
    honolulu = Call(call_id="c1", user_id="u1", time_zone="Pacific/Honolulu")
    assert (await call_as(honolulu, calculate_date, date="today")).startswith("Wednesday, 18 Nov")


async def test_an_unknown_time_zone_of_the_person_is_taken_for_utc() -> None:
    nowhere = Call(call_id="c1", user_id="u1", time_zone="../etc/passwd")
    assert await call_as(nowhere, get_time) == "It is 06:30 on Thursday, 19 November 2026 (UTC)."


@pytest.mark.parametrize(
    ("start", "added", "expected"),
    [
        ("2026-01-31", "3 weeks", "Saturday, 21 February 2026"),
        ("2026-01-31", "45 days", "Tuesday, 17 March 2026"),
        ("2026-01-31", "-1 day", "Friday, 30 January 2026"),
        ("2026-01-31", "2 weeks ago", "Saturday, 17 January 2026"),
        ("2026-01-31", "in a week and three days", "Tuesday, 10 February 2026"),
        ("2026-01-31", "1 year, 2 months", "Wednesday, 31 March 2027"),
        ("2026-01-30", "1 business day", "Monday, 2 February 2026"),
        ("2026-01-31", "10 working days", "Friday, 13 February 2026"),
        ("2026-01-31", "-10 business days", "Monday, 19 January 2026"),
        ("2028-02-29", "1 year", "Wednesday, 28 February 2029"),
    ],
)
async def test_time_is_added_to_a_date(start: str, added: str, expected: str) -> None:
    text = await call(calculate_date, date=start, add=added)
    assert f"Result: {expected} (" in text


async def test_a_month_without_the_day_ends_on_its_last_day_and_says_so() -> None:
    text = await call(calculate_date, date="2026-01-31", add="1 month")
    assert "Saturday, 28 February 2026" in text
    assert "February 2026 has no day 31, so its last day was taken." in text


async def test_the_days_between_two_dates_are_counted() -> None:
    assert await call(calculate_date, date="1990-05-17", until="today") == (
        "From Thursday, 17 May 1990 to Thursday, 19 November 2026: 13335 days, or 36 years "
        "6 months 2 days, or 1905 weeks. 9525 business days after the first date (Monday to "
        "Friday, public holidays included)."
    )


async def test_an_earlier_second_date_is_pointed_out() -> None:
    text = await call(calculate_date, date="today", until="2026-11-01")
    assert text.startswith("The second date is earlier. From Sunday, 1 November 2026 to Thursday")
    assert "18 days" in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"date": "03/04/2026"}, "could be 2026-04-03 or 2026-03-04"),
        ({"date": "2026-02-30"}, "day is out of range"),
        ({"date": "0000-01-01"}, "year 0 is out of range"),
        ({"date": "soon"}, "'soon' is not understood as a date"),
        ({"date": ""}, "not understood as a date"),
        ({"date": "9" * 90}, "not understood as a date"),
        ({"date": "today", "add": "36 hours"}, "not understood as a number of days"),
        ({"date": "today", "add": "some days"}, "not understood as a number of days"),
        ({"date": "today", "add": "99999999999999999999 business days"}, "years 1 and 9999"),
        ({"date": "today", "add": "100000 months"}, "years 1 and 9999"),
    ],
)
async def test_what_is_no_date_is_refused_with_the_reason(
    arguments: dict[str, str], problem: str
) -> None:
    with pytest.raises(Refused) as refused:
        await call(calculate_date, **arguments)
    assert problem in refused.value.message


DATES = st.dates(date(1900, 1, 1), date(2100, 1, 1))


@given(DATES, st.integers(0, 300))
def test_business_days_added_are_business_days_counted(start: date, number: int) -> None:
    end = add_duration(start, Duration(business_days=number))
    assert count_business_days(start, end) == number


@given(DATES, DATES)
def test_months_and_days_between_two_dates_lead_from_one_to_the_other(
    one: date, other: date
) -> None:
    start, end = sorted((one, other))
    months, days = count_months(start, end)
    assert add_months(start, months) + timedelta(days=days) == end
    assert 0 <= days < 31


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (
            "Tokyo",
            "In Tokyo it is 15:30 on Thursday, 19 November 2026 (Asia/Tokyo, JST, UTC+9), 8 hours "
            "ahead of the person's time.",
        ),
        ("", "It is 07:30 on Thursday, 19 November 2026 (Europe/Berlin, CET, UTC+1)."),
        ("india", "In india it is 12:00 on Thursday, 19 November 2026 (Asia/Kolkata, IST"),
        ("Kathmandu", "In Kathmandu it is 12:15 on Thursday"),
        ("San Francisco", "In San Francisco it is 22:30 on Wednesday, 18 November 2026"),
        ("Portland, Oregon", "In Portland it is 22:30"),
        ("Gotham, Japan", "In Japan it is 15:30"),
        ("Zürich", "In Zürich it is 07:30"),
        ("São Paulo", "In São Paulo it is 03:30"),
        ("UK", "In UK it is 06:30"),
        ("South Korea", "In South Korea it is 15:30"),
        ("New York City time", "In New York City time it is 01:30"),
        ("europe/vienna", "In europe/vienna it is 07:30"),
        ("UTC+5:30", "In UTC+05:30 it is 12:00"),
        ("EST", "In EST it is 01:30 on Thursday, 19 November 2026 (America/New_York, EST, UTC-5)"),
    ],
)
async def test_places_are_found_by_the_names_people_use(place: str, expected: str) -> None:
    assert (await call(get_time, place=place)).startswith(expected)


async def test_a_country_with_several_time_zones_is_told_by_city() -> None:
    lines = (await call(get_time, place="USA")).splitlines()
    assert lines[0].startswith("In New York it is 01:30")
    assert any(line.startswith("In Los Angeles it is 22:30 on Wednesday") for line in lines)
    assert len({line.split("UTC")[1] for line in lines}) == len(lines)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            {"place": "Berlin", "time": "15:00", "from_place": "Tokyo"},
            "15:00 on Thursday, 19 November 2026 in Tokyo (Asia/Tokyo, JST, UTC+9) is 07:00 on "
            "Thursday, 19 November 2026 in Berlin (Europe/Berlin, CET, UTC+1).",
        ),
        ({"place": "Berlin", "time": "15:00 in Tokyo"}, "is 07:00 on Thursday"),
        ({"place": "Tokyo", "time": "9:30 p.m."}, "is 05:30 on Friday, 20 November 2026 in Tokyo"),
        ({"place": "Tokyo", "time": "tomorrow at noon"}, "is 20:00 on Friday, 20 November 2026"),
        ({"place": "Tokyo", "time": "2027-07-01 12:00"}, "is 19:00 on Thursday, 1 July 2027"),
        ({"time": "3pm EST"}, "15:00 on Thursday, 19 November 2026 in New York"),
        ({"time": "2026-11-20T15:00:00+05:30"}, "is 10:30 on Friday, 20 November 2026 in Berlin"),
        ({"time": "2:30 on 25 October 2026", "place": "UTC"}, "the first one was taken"),
    ],
)
async def test_a_time_is_converted_between_places(arguments: dict[str, str], expected: str) -> None:
    assert expected in await call(get_time, **arguments)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"place": "Atlantis"}, "No place called 'Atlantis' is known"),
        ({"place": "UTC+99"}, "No place called"),
        ({"time": "15:00", "from_place": "USA"}, "USA has several time zones. Name a city, such"),
        ({"time": "25:00"}, "from 0:00 to 23:59"),
        ({"time": "13 pm"}, "am and pm go up to 12"),
        ({"time": "later"}, "'later' is not understood as a time"),
        ({"time": "2:30 on 28 March 2027"}, "does not exist in Berlin"),
        ({"time": "23:59 9999-12-31", "place": "Tokyo"}, "years 1 and 9999"),
    ],
)
async def test_what_is_no_time_or_place_is_refused_with_the_reason(
    arguments: dict[str, str], problem: str
) -> None:
    with pytest.raises(Refused) as refused:
        await call(get_time, **arguments)
    assert problem in refused.value.message
