"""One module for each property; `property.py` says what a module has."""
