"""The steps of a turn, one file each. They do not know one another: turn.py orders them."""
