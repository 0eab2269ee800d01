#include "kn_fulldomain.h"
