"""What delta rules are made of: their form, the states that they keep, and the parts that several share."""
