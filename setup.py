"""Lets setuptools build outside the checkout, which may be read-only. What is built is in pyproject.toml."""

from tempfile import TemporaryDirectory

from setuptools import setup

with TemporaryDirectory(prefix="kfuzz-build-") as place:
    setup(options={"build": {"build_base": place}, "egg_info": {"egg_base": place}})
