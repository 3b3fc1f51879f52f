# `make demo` and `make test` set up everything they need. PYTHON chooses the interpreter (3.11+).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
SNAKEMAKE := $(BIN)/snakemake --profile workflow/profiles/workstation
FORMATTED := Snakefile workflow/rules/*.smk

.DEFAULT_GOAL := help
.PHONY: help install demo synthetic modes pendulum trusted pendubot robots panda loop control bayessim tune calibration test slow lint bench document site lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
	@echo
	@echo "Targets of the workflow, with any profile: snakemake demo | synthetic | modes | pendulum | trusted | robots | panda | loop | control | bayessim | tune | calibration"
	@echo "  e.g. $(SNAKEMAKE) pendulum --config budget=quick"

# Every job imports pdsim; not everywhere does the first one save what it compiled.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pdsim needs Python 3.11 or newer; name one: make demo PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q pdsim
	touch $@

install: $(READY) ## Make the local environment .venv from pinned, hashed requirements

demo: $(READY) ## Run the main job on a synthetic recording; ends in results/demo/report.html
	$(SNAKEMAKE) demo

synthetic: $(READY) ## Run all estimators on a synthetic population of pendulums
	$(SNAKEMAKE) synthetic

modes: $(READY) ## Run sum against product of two trajectories
	$(SNAKEMAKE) modes

pendulum: $(READY) ## Run all estimators on the real double pendulum (IBM recordings), three settings
	$(SNAKEMAKE) pendulum

trusted: $(READY) ## Run the real double pendulum with start states and noise inferred, two settings
	$(SNAKEMAKE) trusted

pendubot: $(READY) ## Run three estimators on a robot with two motors (tables in data/ or PDSIM_DATA_DIR)
	$(SNAKEMAKE) pendubot

robots: $(READY) ## Estimate a pendubot from its URDF and a real Panda from its torques (tables as for pendubot)
	$(SNAKEMAKE) robots

panda: $(READY) ## Run the estimators on an arm that shakes a box, in two phases
	$(SNAKEMAKE) panda

loop: $(READY) ## Identify a flexible loop in the hand of an arm
	$(SNAKEMAKE) loop

control: $(READY) ## Control a quadrotor and a cart-pole that are learnt on the way, and one with a load
	$(SNAKEMAKE) control

bayessim: $(READY) ## Train BayesSim's likelihood-free variants where an experiment has them
	$(SNAKEMAKE) bayessim

tune: $(READY) ## Repeat the searches that chose the settings in the config
	$(SNAKEMAKE) tune

calibration: $(READY) ## Check every estimator by simulated data sets; hours
	$(SNAKEMAKE) calibration

test: $(READY) ## Run the tests, but for the slow ones
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

slow: $(READY) ## Run the slow tests
	XLA_FLAGS="$$XLA_FLAGS" $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder -m slow

lint: $(READY) ## Check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check $(FORMATTED)
	$(BIN)/mypy

bench: $(READY) ## Measure roll-out and gradient throughput
	$(BIN)/python benchmarks/pendulum.py

document: $(READY) ## Write the tables of the README and of docs/ from the results that are there
	$(BIN)/pdsim document --results results

site: $(READY) ## Build the documentation as a site: build/site/docs/index.html
	$(BIN)/python -m sphinx -q -W --keep-going -c docs . build/site

lock: $(READY) ## Renew requirements.lock (needs uv on the PATH)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
		--extra test --extra cluster --extra docs --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean: ## Remove the environment; results stay
	rm -rf $(VENV)
