"""The log of recent changes."""

from hitsend.store import RecentChanges


def test_each_owner_sees_only_their_own_changes() -> None:
    changes = RecentChanges()
    changes.record("ada", ["a"])
    version = changes.version
    changes.record("ada", ["b", "c"])
    changes.record("eve", ["d"])
    assert changes.since(version, "ada") == {"b", "c"}
    assert changes.since(version, "eve") == {"d"}
    assert changes.since(version, "bob") == set()
    assert changes.since(changes.version, "ada") == set()


def test_a_change_of_everything_returns_none() -> None:
    changes = RecentChanges()
    changes.record("ada", ["a"])
    changes.record("ada")
    assert changes.since(0, "ada") is None
    assert changes.since(0, "eve") == set()


def test_a_version_older_than_the_log_returns_none() -> None:
    changes = RecentChanges(max_changes=2)
    changes.record("ada", ["a", "b", "c"])
    assert changes.since(0, "ada") is None
    assert changes.since(0, "eve") is None
    assert changes.since(1, "ada") == {"b", "c"}
