"""``python -m blindfuse`` is ``blindfuse``."""

from blindfuse.cli.main import main

if __name__ == "__main__":
    main()
