"""The machine: what the kernel says of drives, queues and hardware, read and nothing else decided."""
