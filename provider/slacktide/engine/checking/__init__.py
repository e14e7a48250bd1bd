"""Whether answers are those of batch, and declared keys hold."""
