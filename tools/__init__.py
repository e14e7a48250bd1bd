"""Programs of the checkout: prepare the environment, run the checks, write the locks.

They need Python and its standard library alone, since they run before anything is installed.
"""
