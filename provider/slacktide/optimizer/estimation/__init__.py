"""What is known of sources and their changes, how large groups of a plan space are, and what plans cost."""
