import { isRunOpen, isScriptRunOpen } from './open-runs.ts';
import type { ProfileKind, ScriptProfile, UsgProfile } from './profile-types.ts';

/** A profile of any kind, as the list shows it. */
export interface ProfileRow {
  kind: ProfileKind;
  id: number;
  title: string;
  what: string;
  allComputers: boolean;
  tags: readonly string[];
  accessGroup: string;
  /** Null where it is not known beforehand. */
  computers: number | null;
  nextRun: string | null;
  lastRun: string | null;
  passRate: number | null;
  failing: number;
  archived: boolean;
  hasOpenRun: boolean;
}

/** What administrators call the modes. */
export const MODES: Record<UsgProfile['mode'], string> = {
  audit: 'Audit',
  'fix-audit': 'Fix, then audit',
  'fix-restart-audit': 'Fix, restart, then audit',
};

/** What administrators call the benchmarks that agents know. */
export const BENCHMARKS: Record<string, string> = {
  cis_level1_server: 'CIS level 1, server',
  cis_level2_server: 'CIS level 2, server',
  cis_level1_workstation: 'CIS level 1, workstation',
  cis_level2_workstation: 'CIS level 2, workstation',
  disa_stig: 'DISA STIG',
  custom: 'Tailoring file',
};

/** A row of the list for a USG profile. */
export function usgRow(profile: UsgProfile): ProfileRow {
  const { last_run_results: last } = profile;
  return {
    kind: 'usg',
    id: profile.id,
    title: profile.title,
    what: `${MODES[profile.mode]}: ${BENCHMARKS[profile.benchmark] ?? profile.benchmark}`,
    ...scopeOf(profile),
    computers: profile.associated_instances,
    nextRun: profile.next_run_time,
    lastRun: last.timestamp,
    passRate: last.pass_rate,
    failing: last.failing,
    archived: profile.status === 'archived',
    hasOpenRun: isRunOpen(profile),
  };
}

/** A row of the list for a script profile. */
export function scriptRow(profile: ScriptProfile, scripts: ReadonlyMap<number, string>): ProfileRow {
  const { trigger } = profile;
  const last = profile.activities.last_activity;
  return {
    kind: 'script',
    id: profile.id,
    title: profile.title,
    what: `Run ${scripts.get(profile.script_id) ?? `script ${profile.script_id}`}`,
    ...scopeOf(profile),
    computers: trigger.trigger_type === 'event' ? null : profile.computers.num_associated_computers,
    nextRun: trigger.trigger_type === 'event' ? null : trigger.next_run,
    lastRun: last?.creation_time ?? null,
    passRate: null,
    failing: 0,
    archived: profile.archived,
    hasOpenRun: isScriptRunOpen(profile),
  };
}

/** By title, as people read; equal titles by kind and id. */
export function sortRows(rows: readonly ProfileRow[]): ProfileRow[] {
  return [...rows].sort((a, b) => a.title.localeCompare(b.title) || a.kind.localeCompare(b.kind) || a.id - b.id);
}

function scopeOf(profile: { all_computers: boolean; tags: string[]; access_group: string }) {
  return { allComputers: profile.all_computers, tags: profile.tags, accessGroup: profile.access_group };
}
