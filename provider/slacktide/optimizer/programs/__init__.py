"""Programs of one run, derived from the relation of a view by the delta rules."""
