"""The choice: one alternative and one instant for each operator, and the states that join the instants."""
