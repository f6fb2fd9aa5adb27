"""Imports and exports conversations as files.

`read` parses a file, in a subprocess (`process`); `chatgpt` and `open_webui` parse one format each;
`normalize_tree` makes their message trees follow our rules; `write` makes an export. This package
knows no database, no HTTP and no users.
"""
