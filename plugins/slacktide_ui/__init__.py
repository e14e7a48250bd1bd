"""The page of Slacktide in Airflow's web interface: what the views are, and what was done for them."""
