"""Tasks: what is run for one view, step by step, and what is asked on the way."""
