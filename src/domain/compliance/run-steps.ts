import type { UsgMode } from './profile.ts';

/** What a run needs to know of its profile. */
export interface RunProfile {
  title: string;
  mode: UsgMode;
  benchmark: string;
  /** Name and content of the tailoring file, which replaces the benchmark; null without one. */
  tailoring: { name: string; content: string } | null;
  /** Hours between the fix and the restart. */
  restartDelayHours: number;
  /** Each computer restarts at a random moment of this many minutes after that. */
  restartWindowMinutes: number;
}

/** One step of a run on every computer, as an operation of the engine. */
export interface RunStep {
  type: string;
  summary: string;
  message: { type: string; fields: Readonly<Record<string, unknown>> };
  /** Index of the step whose success it waits for. */
  after: number | null;
  delaySeconds?: number;
  delaySpreadSeconds?: number;
}

/** Type of a run and of its audits and fixes. */
export const USG_ACTIVITY = 'UsgActivity';

/** Summary of a run. @see docs/api-conventions.md#types-and-summaries */
export function runSummary({ mode, title }: Pick<RunProfile, 'mode' | 'title'>): string {
  return `USG ${mode}: ${title}`;
}

/**
 * The steps of a run, each waiting for the success of the one before.
 * @param runId - travels with every step and comes back with the audit's report
 * @see docs/api-conventions.md#usg-runs-and-results
 */
export function runSteps(profile: RunProfile, runId: number): RunStep[] {
  const audit = step('audit', profile, runId);
  const fix = step('fix', profile, runId);
  switch (profile.mode) {
    case 'audit':
      return [audit];
    case 'fix-audit':
      return [fix, { ...audit, after: 0 }];
    case 'fix-restart-audit':
      return [fix, restart(profile), { ...audit, after: 1 }];
  }
}

function step(action: 'audit' | 'fix', { title, benchmark, tailoring }: RunProfile, runId: number): RunStep {
  const rules = tailoring ? { 'tailoring-file': [tailoring.name, tailoring.content] } : { profile: benchmark };
  return {
    type: USG_ACTIVITY,
    summary: `USG ${action}: ${title}`,
    message: { type: 'usg', fields: { action, 'run-id': String(runId), ...rules } },
    after: null,
  };
}

function restart({ restartDelayHours, restartWindowMinutes }: RunProfile): RunStep {
  return {
    type: 'RestartRequest',
    summary: 'Restart computer',
    message: { type: 'shutdown', fields: { reboot: true } },
    after: 0,
    delaySeconds: restartDelayHours * 3600,
    delaySpreadSeconds: restartWindowMinutes * 60,
  };
}
