import type { Logger } from '../src/process/logger.ts';
import type { Database } from '../src/persistence/database/sql.ts';
import type { Clock } from '../src/services/common/ports.ts';
import { createReportReader } from '../src/services/compliance/audits/report-reader.ts';
import { createRuleSetCache } from '../src/services/compliance/audits/rule-set.ts';
import { failUnreported, ingestReports } from '../src/services/compliance/audits/ingest.ts';
import { type Loop, startLoop } from './dispatcher/loop.ts';

/** How soon reports that arrive in an idle moment are picked up. */
const TICK_MS = 100;
const OVERDUE_EVERY_MS = 60_000;

/** Starts ingesting the reports that the gateway stores, beside the activity workers; processes share the work. */
export function startAuditReports(options: { db: Database; clock: Clock; logger: Logger }): Pick<Loop, 'stop'> {
  const { logger } = options;
  const deps = { ...options, read: createReportReader(), sets: createRuleSetCache() };
  const reports = startLoop({ name: 'audit-reports', everyMs: TICK_MS, poll: () => ingestReports(deps), logger });
  const overdue = startLoop({
    name: 'unreported-audits',
    everyMs: OVERDUE_EVERY_MS,
    poll: () => failUnreported(deps),
    logger,
  });
  return {
    async stop() {
      await Promise.all([reports.stop(), overdue.stop()]);
    },
  };
}
