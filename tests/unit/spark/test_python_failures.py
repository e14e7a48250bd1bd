"""What Spark passes on of a traceback in its Python workers becomes one line."""

from __future__ import annotations

import pytest

from slacktide.common.names import may_name
from slacktide.spark.failures.python_failures import of_python
from slacktide.spark.functions import called
from slacktide.store.record import FunctionRecord

HEAD = "\n  An exception was thrown from the Python worker. Please see the stack trace below.\n"
RAISED = f"""{HEAD}Traceback (most recent call last):
  File "/spark/python/lib/pyspark.zip/pyspark/sql/worker.py", line 12, in mapper
    return f(*a)
  File "/tmp/userFiles/shop.py", line 4, in score
    raise ValueError(f"no more
  File "/tmp/userFiles/depths.py", line 9, in check
    raise ValueError(x)
ValueError: no more than 100,
please: 700

"""
MISSING = f"""{HEAD}Traceback (most recent call last):
  File "/spark/serializers.py", line 160, in _read_with_length
    return self.loads(obj)
ModuleNotFoundError: No module named 'shop_pkg'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/spark/worker.py", line 1, in main
pyspark.serializers.SerializationError: Caused by Traceback (most recent call last):
  File "/spark/serializers.py", line 160, in _read_with_length
    return self.loads(obj)
ModuleNotFoundError: No module named 'shop_pkg'
"""
SCORE = FunctionRecord("score", "shop:score", "double", {})
OTHER = FunctionRecord("other", "shop_pkg.functions:other", "double", {})


def test_a_function_that_raises() -> None:
    error = of_python("view v", RAISED, [OTHER, SCORE])
    assert error is not None
    assert error.message == (
        "view v: function score (shop:score) raised ValueError: no more than 100, please: 700"
        " at line 9 of depths.py"
    )
    assert "correct the function" in error.hint


def test_a_function_that_cannot_be_told_from_others() -> None:
    error = of_python("view v", RAISED, [OTHER, FunctionRecord("x", "y:z", "int", {})])
    assert error is not None
    assert error.message.startswith("view v: a function raised ValueError")


def test_a_module_that_workers_do_not_have() -> None:
    error = of_python("view v", MISSING, [SCORE, OTHER])
    assert error is not None
    assert error.message == (
        "view v: function other (shop_pkg.functions:other) needs the module shop_pkg, which "
        "Spark's Python workers do not have"
    )
    assert "--py-files" in error.hint


def test_what_is_no_traceback() -> None:
    assert of_python("view v", "[DIVIDE_BY_ZERO] Division by zero.", [SCORE]) is None


def test_functions_that_texts_may_call() -> None:
    assert called([SCORE, OTHER], ["SELECT SCORE(x) FROM t", "SELECT another(x)"]) == [SCORE]
    assert called([SCORE, OTHER], ["SELECT IDENTIFIER('sc' || 'ore')(x) FROM t"]) == [SCORE, OTHER]


@pytest.mark.parametrize(
    "text",
    ["SELECT `Score` (x)", "SELECT scored(x)", "SELECT score FROM t", "SELECT identifier ('a')(x)"],
)
def test_what_is_registered_for_a_text_is_what_must_not_be_dropped(text: str) -> None:
    assert bool(called([SCORE], [text])) is may_name(text, SCORE.name)
