"""The governor alone: between any planner's velocity commands and PX4, without a mission."""
