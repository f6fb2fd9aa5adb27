"""The steps of a turn, one file each. They do not import one another: turn.py orders them. Steps 1
(dispatch), 4 (context), 9 (store and show) and 10 (the wire) live in server/, context/, runner/ and
wire/; docs/journey.md has the same numbers."""
