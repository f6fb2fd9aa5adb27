"""Conversations that come from elsewhere and go elsewhere, as files.

`reading` takes a file apart, in a process of its own (`process`); `chatgpt` and `open_webui` know
one shape each; `tree` makes what they found follow our rules; `writing` makes an export. None of
them knows the database, HTTP, or whose conversations they are.
"""
