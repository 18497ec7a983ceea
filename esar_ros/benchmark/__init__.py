"""The benchmark: deploying tasks and showing results. Above the simulator and the bridges, below the nodes."""
