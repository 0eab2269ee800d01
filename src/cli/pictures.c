/* pictures.c: placeholder while it is written. */
#include "cli.h"
