"""The environment variables by which launchers tell each process its place: Open MPI, MPICH and PMI, SLURM."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Launcher:
    """The variables that a launcher sets: of the number of processes, the process, and the process on its machine."""

    name: str
    num_processes: str
    process_id: str
    local_process_id: str
    others: tuple = ()

    def is_present(self):
        """Whether this launcher started the process."""
        needed = (self.num_processes, self.process_id, self.local_process_id, *self.others)
        return all(name in os.environ for name in needed)


@dataclass(frozen=True, slots=True)
class Place:
    """What a launcher says: its name, the number of processes, the process's id, and its id on its machine."""

    launcher: str
    num_processes: int
    process_id: int
    local_process_id: int | None


_OMPI = Launcher("ompi", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
_MPICH = Launcher("mpich", "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID")
_SLURM = Launcher(
    "slurm", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID", ("SLURM_JOB_ID", "SLURM_STEP_NODELIST")
)  # fmt: skip
LAUNCHERS = (_OMPI, _MPICH, _SLURM)  # the first that is present counts: `mpiexec` may run within a SLURM job


def find_place(method=None):
    """What the launcher says; None if there was none.

    Args:
      method: the name of a launcher ("ompi", "mpich", "slurm"), "deactivate", or None to try them in turn.

    Raises ValueError for another method and RuntimeError for a launcher whose variables are not set.
    """
    if method == "deactivate":
        return None
    names = [launcher.name for launcher in LAUNCHERS]
    if method is not None and method not in names:
        raise ValueError(
            f"cluster_detection_method={method!r} is unknown; there are {names}, 'mpi4py' and 'deactivate'"
        )
    for launcher in LAUNCHERS:
        if method in (None, launcher.name) and launcher.is_present():
            read = lambda variable: int(os.environ[variable])
            return Place(
                launcher.name,
                read(launcher.num_processes),
                read(launcher.process_id),
                read(launcher.local_process_id),
            )
    if method is not None:
        raise RuntimeError(f"cluster_detection_method={method!r}: its environment variables are not set")
    return None
