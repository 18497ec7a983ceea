"""ESARBench: its tasks, deploying one into a simulated world, the brief, and the oracle that knows the answer."""
