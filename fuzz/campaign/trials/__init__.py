"""One case through one kernel, judged: where the oracle and the devices meet."""
