"""The mission graph's cores in one process, without ROS: the same results, for speed."""
