"""Plan spaces of small views, with the rows of every group."""
