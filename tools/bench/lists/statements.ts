import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Counts the statements of one application by the server's own log. */
export interface StatementCounter {
  /** Minimum of three runs, as housekeeping may fall into one; counts other statements of the same process as well. */
  count(request: () => Promise<unknown>): Promise<number>;
}

const RUNS = 3;
const SETTLE_MS = 60;

/**
 * @param database - a superuser's connection; statements are logged only while a request is counted
 * @param application - application name of the process at the server
 */
export function createStatementCounter(database: pg.Client, logFile: string, application: string): StatementCounter {
  const set = async (level: 'all' | 'none') => {
    await database.query(`alter system set log_statement = '${level}'`);
    await database.query(`alter system set log_line_prefix = '%m [%p] %a '`);
    await database.query('select pg_reload_conf()');
    await sleep(SETTLE_MS);
  };
  const statement = new RegExp(`\\] ${application} LOG: {2}(?:execute|statement)`, 'g');
  return {
    async count(request) {
      await set('all');
      let least = Number.POSITIVE_INFINITY;
      for (let run = 0; run < RUNS; run++) {
        const from = statSync(logFile).size;
        await request();
        await sleep(SETTLE_MS);
        const text = readFileSync(logFile).subarray(from).toString('utf8');
        least = Math.min(least, [...text.matchAll(statement)].length);
      }
      await set('none');
      return least;
    },
  };
}
