"""The fusion methods: one module per method, all with the same interface."""
