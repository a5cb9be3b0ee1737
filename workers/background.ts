import { setTimeout as delay } from 'node:timers/promises';
import { startAuditReports } from './audit-reports.ts';
import { startDispatcher } from './dispatcher/dispatcher.ts';
import { startFleetGauges } from './fleet-gauges.ts';
import type { Parts } from './parts.ts';

const STOP_LIMIT_MS = 2_000;

/** Starts what runs beside the activity workers: the outbox dispatcher, the gauges of the fleet, audit reports. */
export function startBackground(parts: Parts): { stop(): Promise<void> } {
  const { db, registry, logger, measures, config } = parts;
  const dispatcher = startDispatcher({
    ...parts,
    settings: config.activities,
    count: measures.dispatcherEvent,
    repaired: (outcome) => measures.repaired('relay', outcome),
  });
  const gauges = startFleetGauges({ db, registry, logger, isLeader: dispatcher.isLeader });
  const reports = startAuditReports(parts);
  return {
    /** Ends within two seconds, whatever the loops are waiting for. */
    async stop() {
      await Promise.race([Promise.all([dispatcher.stop(), gauges.stop(), reports.stop()]), delay(STOP_LIMIT_MS)]);
    },
  };
}
