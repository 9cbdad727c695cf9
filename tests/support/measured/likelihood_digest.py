"""Prints what echoes say about a policy, to the last bit: `python -m tests.support.measured.likelihood_digest`."""

import hashlib

import numpy as np

from eee_testbed.analysis.links.host_rise import measured_rise
from eee_testbed.analysis.links.policy_likelihood import Likelihood
from eee_testbed.analysis.links.probes import Probes
from eee_testbed.analysis.links.sleep_path import plain_path
from eee_testbed.analysis.links.structures import Group, Structure
from tests.support.measured.echo_bench import AWAKE, Bench, HostTime


def main() -> None:
    """Print a digest of the likelihoods of random candidates, given echoes after which hosts were slower."""
    random = np.random.default_rng(1)
    bench = Bench([AWAKE] * 4, hosts=HostTime(noise_us=0.5, rise_us=6.0), random=random)
    on, off = (Probes.of(*bench.echoes(random.uniform(100, 4000, size=300))) for _ in range(2))
    likelihood = Likelihood(on, plain_path(), measured_rise(off))
    structure = Structure((Group("deep", (1, 3)),))
    thetas = random.uniform(0.1, 1.0, size=(50, likelihood.common + 3))
    print(hashlib.sha256(likelihood.log_probability(structure, thetas).tobytes()).hexdigest())


if __name__ == "__main__":
    main()
