"""Views as data: relations and scalars over columns with ids, and what can be said of them."""
