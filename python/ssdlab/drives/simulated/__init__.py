"""The simulated drive: its text, profiles, state and telemetry."""
