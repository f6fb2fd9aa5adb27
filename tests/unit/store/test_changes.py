"""What changed since somebody last looked."""

from hitsend.store import Changes


def test_everyone_is_told_of_their_own_changes() -> None:
    changes = Changes()
    changes.note("ada", ["a"])
    version = changes.version
    changes.note("ada", ["b", "c"])
    changes.note("eve", ["d"])
    assert changes.since(version, "ada") == {"b", "c"}
    assert changes.since(version, "eve") == {"d"}
    assert changes.since(version, "bob") == set()
    assert changes.since(changes.version, "ada") == set()


def test_where_all_of_it_changed_nothing_is_told_by_name() -> None:
    changes = Changes()
    changes.note("ada", ["a"])
    changes.note("ada")
    assert changes.since(0, "ada") is None
    assert changes.since(0, "eve") == set()


def test_what_changed_long_ago_may_have_been_anything() -> None:
    changes = Changes(most=2)
    changes.note("ada", ["a", "b", "c"])
    assert changes.since(0, "ada") is None
    assert changes.since(0, "eve") is None
    assert changes.since(1, "ada") == {"b", "c"}
