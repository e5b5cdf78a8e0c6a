"""fuse: choose a method without ground truth, guard it, and say why."""
