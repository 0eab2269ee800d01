#include <kanon/spec.h>
