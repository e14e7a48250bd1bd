"""The plan reader: Catalyst's optimised plan as algebra."""

from slacktide.spark.reader.view import read_view

__all__ = ["read_view"]
