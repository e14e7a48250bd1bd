"""Batch runs, and what a stored answer has otherwise than one of them."""
