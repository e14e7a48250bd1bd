"""Failures of Spark as errors of ours."""
