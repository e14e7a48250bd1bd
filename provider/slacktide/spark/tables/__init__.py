"""Tables that programs read: over files that landed, pieces of chains, and rows that were worked out before."""
