"""One file a method, one interface."""
