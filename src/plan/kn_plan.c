#include "kn_plan.h"
