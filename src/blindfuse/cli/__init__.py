"""The command line: options in, words and exit codes out, no mathematics.

One file a command, imported when it is called; what it needs of the library is imported when it
runs, so that ``--help`` is instant.
"""
