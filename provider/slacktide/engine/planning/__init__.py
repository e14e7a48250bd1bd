"""What the planner is told of the views of a run, by the log, and the plan that it makes."""
