"""Plans over several instants: rounds of maintenance, and answers that are due now and then."""
