"""The machine: the kernel's facts on drives, queues and hardware, without judgement."""
