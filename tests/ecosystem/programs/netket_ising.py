"""The ground state of an Ising chain by variational Monte Carlo with NetKet."""

import netket as nk

TOLERANCE = 0.02  # a Monte Carlo estimate after 60 steps


def main():
    hilbert = nk.hilbert.Spin(0.5, 6)
    hamiltonian = nk.operator.IsingJax(hilbert, nk.graph.Chain(6), h=1.0)
    sampler = nk.sampler.MetropolisLocal(hilbert, n_chains=16)
    state = nk.vqs.MCState(sampler, nk.models.RBM(alpha=1, param_dtype=float), n_samples=512, seed=0, sampler_seed=1)
    driver = nk.driver.VMC(
        hamiltonian, nk.optimizer.Sgd(0.05), variational_state=state, preconditioner=nk.optimizer.SR(diag_shift=0.01)
    )
    driver.run(60, show_progress=False, out=None)
    exact = nk.exact.lanczos_ed(hamiltonian, k=1)
    full = nk.vqs.FullSumState(hilbert, nk.models.RBM(alpha=1, param_dtype=float), seed=2)
    return {"energy": state.expect(hamiltonian).mean.real, "exact": exact, "full": full.expect(hamiltonian).mean.real}
