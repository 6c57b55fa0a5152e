// The arguments of a launch, made by the compiler and stored as the function takes them: each at the next multiple of
// its alignment. Placed after a kernel file if a claim's arguments are C++; C++14, since a claim's flags may require
// that.
template <class Parameter, class Given>
struct KfuzzAs {
  static __device__ Parameter of(Given given) { return static_cast<Given>(given); }
};
// An array whose type the claim does not give fits any pointer.
template <class T>
struct KfuzzAs<T *, void *&> {
  static __device__ T *of(void *given) { return static_cast<T *>(given); }
};

template <class T>
__device__ int kfuzz_put(char *to, unsigned long long &at, T value) {
  at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
  for (unsigned long long i = 0; i < sizeof(T); i++) to[at + i] = reinterpret_cast<const char *>(&value)[i];
  at += sizeof(T);
  return 0;
}

template <class... Parameter, class... Given>
__device__ void kfuzz_pack(void (*)(Parameter...), char *to, Given &&...given) {
  static_assert(sizeof...(Parameter) == sizeof...(Given), "as many arguments as the function has parameters");
  unsigned long long at = 0;
  int done[] = {0, kfuzz_put<Parameter>(to, at, KfuzzAs<Parameter, Given &&>::of(static_cast<Given &&>(given)))...};
  (void)done;
}
