"""The workspace: the one door through which command line, Airflow and tests go."""
