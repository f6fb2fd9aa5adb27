"""The latency budget turns a feature off on a slow machine."""

from hitsend.server.turns.latency_budget import OFF_S, LatencyBudget


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def slow_budget(clock: Clock) -> LatencyBudget:
    budget = LatencyBudget(0.15, now=clock)
    for _ in range(3):
        budget.record(0.4)
    return budget


def test_it_runs_until_enough_durations_are_known() -> None:
    budget = LatencyBudget(0.15, now=Clock())
    assert budget.try_begin()
    budget.record(5.0)
    budget.record(5.0)
    assert budget.try_begin()


def test_rare_slow_runs_do_not_turn_it_off() -> None:
    budget = LatencyBudget(0.15, now=Clock())
    for seconds in (0.4, 0.1, 0.1, 0.4, 0.1, 0.1):
        budget.record(seconds)
        assert not budget.is_off
    assert budget.try_begin()


def test_mostly_slow_runs_turn_it_off_for_a_while() -> None:
    budget = slow_budget(Clock())
    assert budget.is_off
    assert not budget.try_begin()


def test_after_the_off_period_a_single_trial_decides() -> None:
    clock = Clock()
    budget = slow_budget(clock)
    clock.now += OFF_S
    assert budget.try_begin()
    assert not budget.try_begin()
    budget.record(0.4)
    assert not budget.try_begin()
    clock.now += OFF_S
    assert budget.try_begin()
    budget.record(0.1)
    assert not budget.is_off
    assert budget.try_begin()


def test_an_aborted_trial_is_followed_by_another() -> None:
    clock = Clock()
    budget = slow_budget(clock)
    clock.now += OFF_S
    assert budget.try_begin()
    budget.record_aborted()
    assert not budget.is_off
    assert budget.try_begin()
    assert not budget.try_begin()
    clock.now += OFF_S
    assert budget.try_begin()


def test_while_it_is_off_only_the_trial_decides() -> None:
    budget = slow_budget(Clock())
    budget.record(0.1)  # a run that started earlier
    budget.record_aborted()
    assert budget.is_off
