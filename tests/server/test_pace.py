"""Whether a machine is fast enough, by what it did."""

from hitsend.server.pace import OFF_S, Pace


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def slow_pace(clock: Clock) -> Pace:
    pace = Pace(0.15, now=clock)
    for _ in range(3):
        pace.took(0.4)
    return pace


def test_it_is_tried_until_it_was_measured() -> None:
    pace = Pace(0.15, now=Clock())
    assert pace.may_try()
    pace.took(5.0)
    pace.took(5.0)
    assert pace.may_try()


def test_seldom_slow_is_fast_enough() -> None:
    pace = Pace(0.15, now=Clock())
    for seconds in (0.4, 0.1, 0.1, 0.4, 0.1, 0.1):
        pace.took(seconds)
        assert not pace.is_off
    assert pace.may_try()


def test_what_is_mostly_slow_is_not_tried_for_a_while() -> None:
    pace = slow_pace(Clock())
    assert pace.is_off
    assert not pace.may_try()


def test_after_a_while_one_may_try_and_its_time_decides() -> None:
    clock = Clock()
    pace = slow_pace(clock)
    clock.now += OFF_S
    assert pace.may_try()
    assert not pace.may_try()
    pace.took(0.4)
    assert not pace.may_try()
    clock.now += OFF_S
    assert pace.may_try()
    pace.took(0.1)
    assert not pace.is_off
    assert pace.may_try()


def test_a_trial_that_tells_nothing_is_followed_by_another() -> None:
    clock = Clock()
    pace = slow_pace(clock)
    clock.now += OFF_S
    assert pace.may_try()
    pace.told_nothing()
    assert not pace.is_off
    assert pace.may_try()
    assert not pace.may_try()
    clock.now += OFF_S
    assert pace.may_try()


def test_only_a_trial_decides_while_it_is_off() -> None:
    pace = slow_pace(Clock())
    pace.took(0.1)  # begun before
    pace.told_nothing()
    assert pace.is_off
