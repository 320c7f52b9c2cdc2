"""The basic models: workloads, options, measurements, warnings, errors, units."""
