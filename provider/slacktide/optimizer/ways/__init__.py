"""Which way a run takes, by what each is expected to cost, and what is kept for later runs."""
