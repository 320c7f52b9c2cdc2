"""A trim, and its witnesses: the kernel's events of it, what blocks return after it."""
