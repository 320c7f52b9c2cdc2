"""What everything else is made of: workloads, options, measurements, warnings, errors, units."""
