"""One run: its configuration, its folder, its episodes, and their replay."""
