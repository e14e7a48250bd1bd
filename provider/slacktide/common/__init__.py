"""What every layer may use: digests, tagged serialisation, the clock, names."""
