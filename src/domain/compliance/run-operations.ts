import type { UsgMode } from './profile.ts';

interface RunProfile {
  title: string;
  mode: UsgMode;
  benchmark: string;
  /** Name and content of the tailoring file, which replaces the benchmark; null without one. */
  tailoring: { name: string; content: string } | null;
  restartDelayHours: number;
  /** Each computer restarts after a further random delay of up to this many minutes. */
  restartWindowMinutes: number;
}

interface RunOperation {
  type: string;
  summary: string;
  message: { type: string; fields: Readonly<Record<string, unknown>> };
  /** Index of the operation that must succeed first; null for none. */
  after: number | null;
  delaySeconds?: number;
  delaySpreadSeconds?: number;
}

export const USG_ACTIVITY = 'UsgActivity';

export function runSummary({ mode, title }: Pick<RunProfile, 'mode' | 'title'>): string {
  return `USG ${mode}: ${title}`;
}

/** Operations that each require the previous one. @see docs/api-conventions.md#usg-runs-and-results */
export function runOperations(profile: RunProfile, runId: number): RunOperation[] {
  const audit = usg('audit', profile, runId);
  const fix = usg('fix', profile, runId);
  switch (profile.mode) {
    case 'audit':
      return [audit];
    case 'fix-audit':
      return [fix, { ...audit, after: 0 }];
    case 'fix-restart-audit':
      return [fix, restart(profile), { ...audit, after: 1 }];
  }
}

function usg(action: 'audit' | 'fix', { title, benchmark, tailoring }: RunProfile, runId: number): RunOperation {
  const rules = tailoring ? { 'tailoring-file': [tailoring.name, tailoring.content] } : { profile: benchmark };
  return {
    type: USG_ACTIVITY,
    summary: `USG ${action}: ${title}`,
    message: { type: 'usg', fields: { action, 'run-id': String(runId), ...rules } },
    after: null,
  };
}

function restart({ restartDelayHours, restartWindowMinutes }: RunProfile): RunOperation {
  return {
    type: 'RestartRequest',
    summary: 'Restart computer',
    message: { type: 'shutdown', fields: { reboot: true } },
    after: 0,
    delaySeconds: restartDelayHours * 3600,
    delaySpreadSeconds: restartWindowMinutes * 60,
  };
}
