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

interface RunStep {
  type: string;
  summary: string;
  message: { type: string; fields: Readonly<Record<string, unknown>> };
  /** Index of the step that must succeed first; null for none. */
  after: number | null;
  delaySeconds?: number;
  delaySpreadSeconds?: number;
}

export const USG_ACTIVITY = 'UsgActivity';

export function runSummary({ mode, title }: Pick<RunProfile, 'mode' | 'title'>): string {
  return `USG ${mode}: ${title}`;
}

/** Steps that each require the previous one. @see docs/api-conventions.md#usg-runs-and-results */
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
