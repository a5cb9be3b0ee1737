import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { failUnreported, ingestReports } from '../../src/services/compliance/audits/ingest.ts';
import { createReportReader } from '../../src/services/compliance/audits/report-reader.ts';
import { createRuleSetCache } from '../../src/services/compliance/audits/rule-set.ts';
import { startDispatcher } from '../dispatcher/dispatcher.ts';
import { type LoopOptions, startLoop } from '../dispatcher/loop.ts';
import { startFleetGauges } from '../telemetry/fleet-gauges.ts';
import type { Parts } from './parts.ts';

const STOP_LIMIT_MS = 2_000;
const REPORTS_POLL_MS = 500;
const REPORTS_IDLE_MS = 10_000;
const OVERDUE_EVERY_MS = 60_000;

/** The dispatcher, the gauges and the ingestion of audit reports. `stop` ends within 2 s, whatever they wait for. */
export function startBackground(parts: Parts, eagerClient: () => Client | null): { stop(): Promise<void> } {
  const { db, registry, logger, measures, config } = parts;
  const dispatcher = startDispatcher({
    ...parts,
    eagerClient,
    settings: config.activities,
    count: measures.dispatcherEvent,
    repaired: (outcome) => measures.repaired('relay', outcome),
    onReports: () => reports.wake(),
  });
  const gauges = startFleetGauges({ db, registry, logger, isLeader: dispatcher.isLeader });
  const audits = { ...parts, read: createReportReader(), sets: createRuleSetCache() };
  const loop = (name: string, poll: () => Promise<boolean>, pauses: Pick<LoopOptions, 'everyMs' | 'idleMs'>) =>
    startLoop({ name, ...pauses, poll, logger });
  const reportPauses = { everyMs: REPORTS_POLL_MS, idleMs: REPORTS_IDLE_MS };
  const reports = loop('audit-reports', () => ingestReports(audits), reportPauses);
  const overdue = loop('unreported-audits', () => failUnreported(audits), { everyMs: OVERDUE_EVERY_MS });
  const running = [dispatcher, gauges, reports, overdue];
  return {
    async stop() {
      await Promise.race([Promise.all(running.map((part) => part.stop())), delay(STOP_LIMIT_MS)]);
    },
  };
}
