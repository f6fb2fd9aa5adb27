"""The feature `web`: searches the web, and reads pages. Begin with `build.py`."""
