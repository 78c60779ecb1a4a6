# onax: the commands of the project.  `make demo` and `make test` work on a fresh machine with Python >= 3.11 and a C compiler.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
ORACLE := .venv-oracle
ECOSYSTEM := .venv-ecosystem
JAX_VERSION ?= 0.10.2
NEWEST_JAX := 0.12.0.1
OUT ?= demo-output
JOBS ?= 2
OTHER_PYTHONS ?= 3.12 3.13

.PHONY: demo demo-distributed demo-finetune test test-all test-ecosystem record-ecosystem oracle oracle-newest node record bench gpu lint tables docs wheel clean

$(VENV)/.built: setup.py pyproject.toml $(wildcard cython_src/onax/_native/*)
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade pip
	$(RUN) -m pip install --quiet --editable ".[demo,test]"
	touch $@

demo: $(VENV)/.built  ## trains on real handwritten digits, exports, replays the exports without onax, draws
	$(RUN) scripts/demo/train.py --out $(OUT)
	$(RUN) scripts/demo/replay.py --out $(OUT)
	$(RUN) scripts/demo/draw.py --out $(OUT)

demo-distributed: $(VENV)/.built  ## trains on the digits in one process and in four, which MPI connects, with equal losses
	$(RUN) -m pip install --quiet --editable ".[demo,mpi]"
	$(RUN) scripts/demo/train_distributed.py --out $(OUT)/one
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" mpiexec -n 4 $(RUN) scripts/demo/train_distributed.py --out $(OUT)/four --like $(OUT)/one

demo-finetune: $(VENV)/.built  ## loads a network from its .onnx file alone, teaches it five more digits, exports it again
	$(RUN) scripts/demo/pretrain.py --out $(OUT)
	$(RUN) scripts/demo/finetune.py --out $(OUT)
	$(RUN) scripts/demo/run_finetuned.py --out $(OUT)

test: $(VENV)/.built lint  ## what a change must pass; in JOBS processes
	$(RUN) -m pytest -m "not slow" --numprocesses $(JOBS) --dist worksteal

test-all: $(VENV)/.built lint  ## the deeper suites too, and all of them on the other Pythons that are installed
	$(RUN) -m pytest --new-draws
	$(RUN) scripts/python_versions.py $(OTHER_PYTHONS) -- --new-draws

test-ecosystem: $(ECOSYSTEM)/.installed  ## programs over libraries of the JAX ecosystem, in an environment of their own
	$(ECOSYSTEM)/bin/python tests/ecosystem/run.py test
	$(RUN) scripts/write_coverage.py

$(ECOSYSTEM)/.installed: $(VENV)/.built tests/ecosystem/requirements.txt
	$(RUN) -m venv $(ECOSYSTEM)
	$(RUN) -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	  > $$($(ECOSYSTEM)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/onax.pth
	$(ECOSYSTEM)/bin/python -m pip install --quiet --no-deps --requirement tests/ecosystem/requirements.txt
	touch $@

record-ecosystem:  ## pins these libraries for JAX's version and records its results, in a second environment
	$(PYTHON) -m venv $(ECOSYSTEM)-jax
	$(ECOSYSTEM)-jax/bin/python -m pip install --quiet jax==$(JAX_VERSION) jaxlib==$(JAX_VERSION) packaging \
	  --requirement tests/ecosystem/libraries.txt
	$(ECOSYSTEM)-jax/bin/python tests/ecosystem/run.py resolve $(ECOSYSTEM)-jax/bin/python
	$(ECOSYSTEM)-jax/bin/python tests/ecosystem/run.py record $(ECOSYSTEM)-jax/bin/python

oracle:  ## real JAX in an environment of its own; tests find it by themselves
	$(PYTHON) -m venv $(ORACLE)
	$(ORACLE)/bin/python -m pip install --quiet jax==$(JAX_VERSION) jaxlib==$(JAX_VERSION)

oracle-newest:  ## the newest JAX, which needs Python 3.12 or later: PYTHON=python3.13
	$(MAKE) oracle ORACLE=$(ORACLE)-newest JAX_VERSION=$(NEWEST_JAX)

node: build/node/.installed  ## ONNX Runtime for Node and for WebAssembly, in which tests then run exported models; pyright

build/node/.installed:
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix build/node onnxruntime-web onnxruntime-node pyright
	touch $@

record: $(VENV)/.built  ## renews the recorded answers of real JAX; those of the newest where it is installed
	$(RUN) scripts/record_oracle.py
	test ! -x $(ORACLE)-newest/bin/python || ONAX_ORACLE_PYTHON=$(ORACLE)-newest/bin/python $(RUN) scripts/record_oracle.py

bench: $(VENV)/.built  ## side by side with real JAX; prints, asserts nothing
	$(RUN) scripts/benchmark.py

gpu: $(VENV)/.built  ## on a machine with a CUDA device: proves onax on it, writes docs/gpu.md and docs/gpu.json
	$(RUN) scripts/gpu/run.py

lint: $(VENV)/.built
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) scripts/typecheck.py

wheel: $(VENV)/.built  ## dist/: the sdist, and the wheel made from it, for any Linux of its age
	$(RUN) scripts/wheel.py build

tables: $(VENV)/.built  ## renews the generated tables
	$(RUN) scripts/write_coverage.py
	$(RUN) scripts/divergence_report.py --backends eager,jit,onnx-cpu --format markdown -o docs/divergences.md

$(VENV)/.docs: $(VENV)/.built docs/requirements.txt docs/requirements-interop.txt
	$(RUN) -m pip install --quiet --requirement docs/requirements.txt
	$(RUN) -m pip install --quiet --no-deps --requirement docs/requirements-interop.txt
	touch $@

docs: $(VENV)/.docs build/node/.installed  ## the site, in build/site: runs tutorials and gallery; every warning is an error
	$(RUN) -m sphinx --fail-on-warning --keep-going --jobs $(JOBS) --builder html docs build/site

clean:
	rm -rf build dist $(VENV) $(OUT) pkg/*.egg-info
	find . -name "*.so" -path "*/pkg/*" -delete
