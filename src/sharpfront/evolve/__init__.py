"""Problems in time: kernels that follow the front."""
