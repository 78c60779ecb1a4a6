"""The place of a process, from the variables of launchers."""

import pytest

from onax._ground import clusters

OPEN_MPI = {"OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}
MPICH = {"PMI_SIZE": "4", "PMI_RANK": "3", "MPI_LOCALRANKID": "2"}
SLURM = {
    "SLURM_JOB_ID": "77",
    "SLURM_STEP_NODELIST": "node[001-004]",
    "SLURM_NTASKS": "16",
    "SLURM_PROCID": "9",
    "SLURM_LOCALID": "1",
}


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    for launcher in clusters.LAUNCHERS:
        for name in (launcher.num_processes, launcher.process_id, launcher.local_process_id, *launcher.others):
            monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        (OPEN_MPI, clusters.Place("ompi", 8, 5, 1)),
        (MPICH, clusters.Place("mpich", 4, 3, 2)),
        (SLURM, clusters.Place("slurm", 16, 9, 1)),
        (SLURM | MPICH, clusters.Place("mpich", 4, 3, 2)),
        ({}, None),
        ({"PMI_SIZE": "4"}, None),
    ],
)
def test_the_launcher_says_it(monkeypatch, variables, place):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert clusters.find_place() == place
    assert clusters.find_place("deactivate") is None


def test_a_named_launcher_must_be_there(monkeypatch):
    for name, value in (SLURM | MPICH).items():
        monkeypatch.setenv(name, value)
    assert clusters.find_place("slurm").process_id == 9
    with pytest.raises(RuntimeError, match="'ompi'"):
        clusters.find_place("ompi")
    with pytest.raises(ValueError, match="'carrier'"):
        clusters.find_place("carrier")
