"""What work cost, by Spark's own figures."""
