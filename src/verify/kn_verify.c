#include <kanon/verify.h>
