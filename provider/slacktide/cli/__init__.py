"""The command line: it reads what the user typed, asks the engine, and shows the answer."""
