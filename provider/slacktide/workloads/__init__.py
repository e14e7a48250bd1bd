"""Workloads to show, measure and test with: data, a stream of changes to it, and queries."""
