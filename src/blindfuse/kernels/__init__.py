"""Every compiled loop (Numba, cached on disk): arrays in, arrays out, no names, no objects.

All kernels release the GIL, so that threads work on pieces of the items or on groups of
annotators side by side. A kernel calls only kernels of its own file: Numba's cache notices when a
file changes, but not when another file that was compiled into it does.
"""
