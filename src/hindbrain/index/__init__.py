"""Derived from the vault and disposable: passages, the store, vectors, and the sync that makes them."""
