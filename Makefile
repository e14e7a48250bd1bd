# Everything here works on a machine with Python >= 3.11 and make; see CONTRIBUTING.md.

PYTHON := $(firstword $(foreach p,$(PYTHON) python3 python3.13 python3.12 python3.11,$(shell \
	$(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $(p))))
ifeq ($(PYTHON),)
$(error Slacktide needs Python 3.11, 3.12 or 3.13: install one, or name it: make PYTHON=/path/to/python3)
endif

.PHONY: help setup demo test lint lock clean
.DEFAULT_GOAL := help

help:   ## say what there is
	@sed -n 's/^\([a-z]*\): *## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

setup:  ## prepare .venv for development, with Java found
	@$(PYTHON) -m tools.bootstrap test

demo:   ## a real Airflow, TPC-H changes, answers checked against batch; EXIT=1 ends by itself
	@$(PYTHON) -m tools.bootstrap demo python -m slacktide.cli.main demo --airflow

test:   ## lint, types, layers, and every test
	@$(PYTHON) -m tools.bootstrap test python -m tools.check

lint:   ## format, lint, types and layers alone
	@$(PYTHON) -m tools.bootstrap test python -m tools.check lint

lock:   ## write locks/ anew from pyproject.toml; UPGRADE=1 takes newer versions
	@$(PYTHON) -m tools.lock $(if $(UPGRADE),--upgrade)

clean:  ## remove .venv and everything that was made here
	@rm -rf .venv .build build dist spark-warehouse metastore_db derby.log .coverage* .hypothesis \
		.mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
