#include <kanon/attack.h>
