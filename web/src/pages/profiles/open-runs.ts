import type { components } from '@flotilla/client';

type Schemas = components['schemas'];

/** Whether computers of the latest run of a USG profile may still respond. */
export function isRunOpen({ last_run_results: last }: Schemas['UsgProfile']): boolean {
  return last.report_uri === 'in-progress';
}

/** The same of a script profile. */
export function isScriptRunOpen({ activities: { last_activity: last } }: Schemas['ScriptProfile']): boolean {
  return last !== null && last.completion_time === null;
}
