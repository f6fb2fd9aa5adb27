"""The HTTP server, and the only package that imports the web framework. Start at `app.py`."""
