"""Files of ours as Spark reads and writes them."""
