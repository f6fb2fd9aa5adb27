"""HTTP: the only place that knows the web framework. `app.py` puts everything together."""
