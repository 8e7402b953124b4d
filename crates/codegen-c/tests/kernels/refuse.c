/*
 * The kernel refuse; its loops come first.
 */
static inline int32_t refuse_loops(void) {
  return SPARSEC_OUT_OF_MEMORY;
}

int32_t refuse(sparsec_context *context) {
  (void)context;
  return refuse_loops();
}
