"""What an agent can do with a vault: the verbs, and the rules that keep its owner's notes safe from them."""
