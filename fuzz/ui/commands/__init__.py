"""The commands of the command line that run kernels: one file each."""
