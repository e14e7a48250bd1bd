"""What has landed at sources: accepted, pinned for a run, kept apart or left out."""
