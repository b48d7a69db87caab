"""What every layer shares: errors, config, clock. Imports nothing of Hindbrain's other packages."""
