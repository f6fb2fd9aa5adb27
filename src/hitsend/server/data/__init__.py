"""A user's data: export, import, erase."""
