"""Facts about this host from the kernel: drives, queues and hardware, without judgement."""
