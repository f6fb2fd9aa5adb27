"""The context: what a model sees besides the question, and what is dropped when it is too long.

`history` reads the messages, `summary_ranges` picks summaries of the older ones, `notes` renders
what precedes a question, and `window` decides what to drop. `build` puts it all together.
"""
