"""Many runs: what a sweep file asks for, on one machine or a cluster."""
