/*
** What a kernel's parameters are, told by their types: the same on the host and on a device. The numbers are tt_dtype's.
*/
template <class T>
struct tt_kind {
  static constexpr int kind = TT_CUDAC_VOID;
};
#define TT_KIND(T, K)                  \
  template <>                          \
  struct tt_kind<T> {                  \
    static constexpr int kind = K;     \
  };
TT_KIND(bool, TT_D_BOOL)
TT_KIND(char, TT_D_I8)
TT_KIND(signed char, TT_D_I8)
TT_KIND(short, TT_D_I16)
TT_KIND(int, TT_D_I32)
TT_KIND(long, TT_D_I64)
TT_KIND(long long, TT_D_I64)
TT_KIND(unsigned char, TT_D_U8)
TT_KIND(unsigned short, TT_D_U16)
TT_KIND(unsigned, TT_D_U32)
TT_KIND(unsigned long, TT_D_U64)
TT_KIND(unsigned long long, TT_D_U64)
TT_KIND(float, TT_D_F32)
TT_KIND(double, TT_D_F64)
template <class T>
struct tt_kind<volatile T> : tt_kind<T> {};
template <class T>
struct tt_param {
  static constexpr int kind = tt_kind<T>::kind == TT_CUDAC_VOID ? TT_CUDAC_STRUCT : tt_kind<T>::kind;
};
template <class T>
struct tt_param<T *> {
  static constexpr int kind = TT_CUDAC_POINTER | tt_kind<T>::kind;
};
template <class T>
struct tt_param<const T *> {
  static constexpr int kind = TT_CUDAC_POINTER | TT_CUDAC_CONST | tt_kind<T>::kind;
};
template <class T>
struct tt_param<const T> : tt_param<T> {};
