.PHONY: docs docs-with-outputs
PYTHON ?= python

docs:  # the site in docs/_build; notebooks as they are committed, without outputs
	$(PYTHON) -m sphinx -W --keep-going -c docs . docs/_build

docs-with-outputs:  # the same with the notebooks run, but for those that need a model
	$(PYTHON) -m sphinx -W --keep-going -c docs -D nb_execution_mode=cache . docs/_build
