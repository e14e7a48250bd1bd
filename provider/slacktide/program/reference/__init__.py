"""The reference interpreter: plain Python, slow and obvious, the oracle for everything else.

A row is a tuple; its values are None for NULL, bool, int, Decimal, float, str, bytes, date, and
datetime without a zone for timestamps in UTC. Arrays and structs are tuples of their parts (types tell
them apart), maps are dictionaries. Queries are evaluated in ANSI mode.
"""
