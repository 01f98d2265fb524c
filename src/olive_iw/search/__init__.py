"""Search: the tree of an episode, the verbs that grow it, and the moments at which rules act."""
