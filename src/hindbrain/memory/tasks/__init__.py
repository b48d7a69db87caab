"""Tasks as check boxes in a note."""
