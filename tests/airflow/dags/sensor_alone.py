"""The sensor of the shipped DAG alone, over a Variable of a test."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG

from slacktide.orchestration.sensor import DeltaArrivalSensor

with DAG("sensor_alone", schedule=None, start_date=datetime(2026, 1, 1, tzinfo=UTC), catchup=False):
    DeltaArrivalSensor(
        task_id="await",
        variable="slacktide_other",
        deferrable=True,
        poke_interval=1,
        timeout=timedelta(seconds=5),
        soft_fail=True,
    )
