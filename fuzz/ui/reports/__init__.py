"""What a person or a program is shown: kernels, cases, failures, the campaign as it runs, its end."""
