"""Memory in terms of words: requests to remember or forget, what a memory may say, and how relevant
it is to a question. It knows no store, no model and no vectors."""
