"""How a sentence is known to say something lasting: the cues, by what they are about."""
