"""Memory, as far as words alone go: what a person asks to have remembered or forgotten, what a
memory may say, and how near it is to a question. It knows no store, no model and no vectors."""
