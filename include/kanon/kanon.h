/* kanon/kanon.h: the whole public API in one header. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KANON_KANON_H
#define KANON_KANON_H

#include <kanon/advise.h>
#include <kanon/anonymize.h>
#include <kanon/answers.h>
#include <kanon/arrow.h>
#include <kanon/attack.h>
#include <kanon/catalogue.h>
#include <kanon/context.h>
#include <kanon/database.h>
#include <kanon/dependencies.h>
#include <kanon/diagnose.h>
#include <kanon/document.h>
#include <kanon/engine.h>
#include <kanon/explain.h>
#include <kanon/frontier.h>
#include <kanon/generate.h>
#include <kanon/hierarchy.h>
#include <kanon/init.h>
#include <kanon/measure.h>
#include <kanon/memory.h>
#include <kanon/models.h>
#include <kanon/questions.h>
#include <kanon/recipe.h>
#include <kanon/records.h>
#include <kanon/report.h>
#include <kanon/risk.h>
#include <kanon/spec.h>
#include <kanon/status.h>
#include <kanon/table.h>
#include <kanon/verify.h>
#include <kanon/version.h>
#include <kanon/workload.h>

#endif
