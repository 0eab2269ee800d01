#include "kn_recode.h"
