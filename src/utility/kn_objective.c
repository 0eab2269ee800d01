#include "kn_objective.h"
