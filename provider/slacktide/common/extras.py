"""How what a part of Slacktide needs besides is installed."""

from __future__ import annotations


def install(extra: str) -> str:
    """Say how an extra is installed: from a checkout, as no version is released."""
    return f"in a checkout of Slacktide: pip install '.[{extra}]'"
