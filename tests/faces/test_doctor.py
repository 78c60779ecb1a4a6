"""`python -m onax.doctor`: what is there, what is in the way, the way out."""

import json
import subprocess
import sys

import pytest

from onax import doctor


def verdicts(examination):
    return {finding.subject: finding for finding in examination()}


def test_this_installation_works(tmp_path):
    done = subprocess.run([sys.executable, "-m", "onax.doctor", "--json"], cwd=tmp_path, capture_output=True, text=True)
    findings = {entry["subject"]: entry for entry in json.loads(done.stdout)}
    assert done.returncode == 0 and not done.stderr
    assert findings["trial"]["verdict"] == "ok" and findings["ONNX Runtime"]["verdict"] == "ok"
    assert {"python", "onax", "numpy", "scipy", "BLAS of numpy", "threads", "CUDA", "MPI"} <= set(findings)


@pytest.mark.parametrize("version, verdict", [(None, "problem"), ("1.9", "problem"), ("2.10.1", "ok")])
def test_a_package_that_is_missing_or_old(version, verdict, monkeypatch):
    def installed(name):
        if version is None:
            raise doctor.importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(doctor, "_requirements", lambda: [("numpy", "2.1")])
    monkeypatch.setattr(doctor.importlib.metadata, "version", installed)
    finding = verdicts(doctor.packages)["numpy"]
    assert finding.verdict == verdict
    assert not finding.remedy if verdict == "ok" else "'numpy>=2.1'" in finding.remedy


def test_a_runtime_that_is_missing(monkeypatch, capsys):
    def missing():
        raise ImportError("onax needs ONNX Runtime: pip install onnxruntime")

    monkeypatch.setattr(doctor.onnx_runtime, "find_runtime", missing)
    assert doctor.main([]) == 1
    assert "! ONNX Runtime: onax needs ONNX Runtime" in capsys.readouterr().out


def test_wrong_numbers_are_a_problem(monkeypatch):
    monkeypatch.setattr(doctor.onax, "jit", lambda function: lambda x: function(x) * 0)
    assert verdicts(doctor.trial)["trial"].verdict == "problem"


def test_a_container_with_fewer_cores(monkeypatch):
    monkeypatch.delenv("ONAX_NUM_THREADS", raising=False)
    monkeypatch.setattr(doctor, "_allowed_cores", lambda: (8, 1.5))
    finding = verdicts(doctor.threads)["threads"]
    assert finding.verdict == "note" and "ONAX_NUM_THREADS=1" in finding.remedy


def test_a_device_that_the_runtime_cannot_use(monkeypatch):
    monkeypatch.setattr(doctor.devices, "cuda_models", lambda: ["NVIDIA H200"])
    monkeypatch.setattr(doctor.devices, "backends", lambda: {"cpu": None})
    finding = verdicts(doctor.cuda)["CUDA"]
    assert finding.verdict == "problem" and "onnxruntime-gpu" in finding.remedy


def test_variables(monkeypatch):
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    monkeypatch.setenv("JAX_ENABLE_X46", "1")
    found = verdicts(doctor.conflicts)
    assert found["JAX_ENABLE_X64"].text == "1"
    assert "no variable of this name" in found["JAX_ENABLE_X46"].text
