"""What programs cost on Spark: a vector per operator, predicted from sizes and coefficients."""
