"""One self-contained page about a fusion: ``contents`` (numbers) → ``pictures`` → ``writing``."""
