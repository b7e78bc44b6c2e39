"""`python -m fewer` is the command line."""

from fewer.cli import main

main()
