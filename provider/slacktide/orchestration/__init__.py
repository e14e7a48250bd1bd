"""The Airflow layer: connection type, sensor, trigger and operators over `slacktide.engine`."""
