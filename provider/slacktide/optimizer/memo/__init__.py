"""The plan space of a view over several instants: time-varying relations, groups, rules, exploration."""
