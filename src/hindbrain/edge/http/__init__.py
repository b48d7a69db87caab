"""What every listener on loopback shares: where it listens, who may ask, the token, JSON in and out."""
