"""Planning, pure: from what a view means and what exists to the programs of one run."""
