"""What a kernel may claim of its rounding, measured: additions counted at many sizes, and a formula through them."""
