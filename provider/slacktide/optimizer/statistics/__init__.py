"""What is known of sources and their changes, and what follows for relations and groups."""
