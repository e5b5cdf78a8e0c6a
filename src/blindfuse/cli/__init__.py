"""The command line interface: it parses options, calls the library and prints the results.

Each command has its own module, which is imported when the command is called. A command imports
the library only when it runs, so that ``--help`` is fast.
"""
