// assert of device code: a failure ends the launch and names the line. Read again at every #include.
#undef assert
#ifdef NDEBUG
#define assert(expression) static_cast<void>(0)
#else
#define assert(expression) \
  ((expression) ? static_cast<void>(0) : cuda_on_cpu_assertion_failed(#expression, __builtin_LINE()))
#endif
