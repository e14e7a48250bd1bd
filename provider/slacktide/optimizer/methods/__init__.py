"""The incremental methods: families of rules over the memo (tempura.md §2)."""
