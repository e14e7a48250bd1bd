"""Executing a plan: what is computed, mirrored, reported and committed."""
