"""Programs: what one run computes for one view, as data, with two interpreters."""
