"""Pieces of SQL, as texts."""
