"""Reading and writing of files: curricula, packs, Datasets."""
