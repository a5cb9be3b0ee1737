import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from './seed.ts';

/** One line for people while the seeds run. */
export function progressLine(outcome: Outcome, place: number, total: number): string {
  const { seed, steps, operations, executions, violations, ms, restMs, late } = outcome;
  const verdict = violations.length === 0 ? 'ok' : `${violations.length} VIOLATIONS`;
  const work = `${operations} operations, ${executions} executions, ${seconds(ms)} s, at rest after ${seconds(restMs)} s`;
  const lateness = late.length > 0 ? `; late: ${late.slice(0, 4).join('; ')}` : '';
  return `[${place}/${total}] seed ${seed} ${verdict}: ${work}: ${steps.join(' ')}${lateness}`;
}

/** The command that repeats a failed seed. */
export function repeatLine(outcome: Outcome, computers: number): string {
  const texts = outcome.violations.slice(0, 20).map(({ invariant, text }) => `    ${invariant}: ${text}`);
  return [`  repeat: npm run faults -- --seed ${outcome.seed} --computers ${computers}`, ...texts].join('\n');
}

/** Counts of all seeds by kind of fault, fail point and invariant. */
export function summarize(outcomes: readonly Outcome[]) {
  const failed = outcomes.filter(({ violations }) => violations.length > 0);
  return {
    seeds: outcomes.length,
    failedSeeds: failed.map(({ seed }) => seed),
    operations: sum(outcomes.map(({ operations }) => operations)),
    executions: sum(outcomes.map(({ executions }) => executions)),
    seconds: Math.round(sum(outcomes.map(({ ms }) => ms)) / 1000),
    faults: tally(outcomes.flatMap(({ faults }) => faults)),
    failPoints: tally(outcomes.flatMap(({ struck }) => struck)),
    work: tally(outcomes.flatMap(({ acts }) => acts)),
    responses: addUp(outcomes.map(({ responses }) => responses)),
    violations: tally(outcomes.flatMap(({ violations }) => violations.map(({ invariant }) => invariant))),
  };
}

export function renderSummary(outcomes: readonly Outcome[]): string {
  const summary = summarize(outcomes);
  const table = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none';
  return [
    `${summary.seeds} seeds, ${summary.failedSeeds.length} failed; ${summary.operations} operations, ` +
      `${summary.executions} executions, ${summary.seconds} s`,
    `faults: ${table(summary.faults)}`,
    `fail points: ${table(summary.failPoints)}`,
    `work: ${table(summary.work)}`,
    `responses: ${table(summary.responses)}`,
    `violations: ${table(summary.violations)}`,
    ...(summary.failedSeeds.length > 0 ? [`failed seeds: ${summary.failedSeeds.join(' ')}`] : []),
  ].join('\n');
}

/** Writes summary and outcomes below `build/faults`. @returns the path of the file */
export function writeReport(root: string, outcomes: readonly Outcome[], at: Date): string {
  const directory = join(root, 'build', 'faults');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${at.toISOString().replace(/[:.]/g, '-')}.json`);
  writeFileSync(path, `${JSON.stringify({ summary: summarize(outcomes), outcomes }, null, 2)}\n`);
  return path;
}

/** Keeps the logs of a failed seed. @returns where */
export function keepLogs(root: string, { seed }: Outcome, dataDir: string): string {
  const directory = join(root, 'build', 'faults', `seed-${seed}`);
  cpSync(join(dataDir, 'logs'), directory, { recursive: true });
  return directory;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function tally(names: readonly string[]): Record<string, number> {
  return addUp(names.map((name) => ({ [name]: 1 })));
}

function addUp(counts: ReadonlyArray<Readonly<Record<string, number>>>): Record<string, number> {
  const total: Record<string, number> = {};
  for (const one of counts) for (const [name, count] of Object.entries(one)) total[name] = (total[name] ?? 0) + count;
  return Object.fromEntries(Object.entries(total).sort(([a], [b]) => a.localeCompare(b)));
}
