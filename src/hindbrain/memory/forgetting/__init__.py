"""What a person deleted stays deleted: tombstones, the ledger of what was stored, the purge."""
