"""The pytest plugin: kept cases and campaigns as test items."""
