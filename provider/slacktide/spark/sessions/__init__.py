"""Sessions of Spark: started, told what queries mean, and the tables and frames that they lend each other."""
