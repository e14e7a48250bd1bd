"""Everything that touches Spark: reading plans, running programs, finding Java."""
