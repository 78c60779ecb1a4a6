"""The proof that onax works on a CUDA device, in one command: `python scripts/gpu/run.py` (`make gpu`)."""
