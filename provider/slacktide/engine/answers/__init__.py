"""Answers: what is kept of them, how they are read, and how they are published."""
