"""What the commands do: call the package, print the answer."""
