"""What a person runs now and then: bench, doctor, play."""
