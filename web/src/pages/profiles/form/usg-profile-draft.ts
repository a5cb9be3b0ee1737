import type { components } from '@flotilla/client';
import { MODES } from '../profile-rows.ts';
import type { UsgProfile } from '../profile-types.ts';
import { fromRule, isFilled, type Recurrence, toRule, WEEKLY } from '../recurrence.ts';
import { BROWSER_ZONE, isZone, toLocal, toUtc } from '../../../ui/times/zone.ts';
import { type ScopeDraft, tagList } from './scope-draft.ts';

type UsgRequest = components['schemas']['UsgProfileRequest'];
type UsgPatch = components['schemas']['UsgProfilePatch'];
type DatesRequest = components['schemas']['UsgProfileDatesRequest'];
type DatesPatch = components['schemas']['UsgProfileDatesPatch'];

/** The form of a USG profile. */
export interface UsgProfileDraft extends ScopeDraft {
  title: string;
  mode: UsgProfile['mode'];
  benchmark: string;
  accessGroup: string;
  recurrence: Recurrence;
  timezone: string;
  /** Local time of the time zone. */
  start: string;
  restartDelay: string;
  restartWindow: string;
}

/** What is chosen instead of a benchmark. */
export const TAILORING = 'custom';
export const MODE_OPTIONS = Object.entries(MODES).map(([value, label]) => ({ value, label }));

/** An empty form: the first run is tomorrow night in the zone. */
export function newUsgProfileDraft(zone = BROWSER_ZONE, now = Date.now()): UsgProfileDraft {
  return {
    title: '',
    mode: 'audit',
    benchmark: 'cis_level1_server',
    accessGroup: 'global',
    allComputers: false,
    tags: '',
    recurrence: WEEKLY,
    timezone: zone,
    start: `${toLocal(new Date(now + 86_400_000), zone).slice(0, 10)}T02:00`,
    restartDelay: '0',
    restartWindow: '0',
  };
}

/** The form of a profile that exists. */
export function usgProfileDraftOf(profile: UsgProfile): UsgProfileDraft {
  return {
    ...newUsgProfileDraft(),
    title: profile.title,
    mode: profile.mode,
    benchmark: profile.benchmark,
    accessGroup: profile.access_group,
    allComputers: profile.all_computers,
    tags: profile.tags.join(', '),
    recurrence: fromRule(profile.schedule),
    timezone: profile.timezone,
    restartDelay: String(profile.restart_deliver_delay),
    restartWindow: String(profile.restart_deliver_delay_window),
  };
}

/** What the form creates. */
export function usgRequest(draft: UsgProfileDraft, tailoringFile: string | null): UsgRequest {
  const isTailored = draft.benchmark === TAILORING;
  // The server names the field of a wrong time zone; until then the start is read as UTC.
  const zone = isZone(draft.timezone) ? draft.timezone : 'UTC';
  const rules = isTailored ? { tailoring_file: tailoringFile ?? '' } : { benchmark: draft.benchmark };
  return {
    ...usgPatch(draft),
    title: draft.title,
    schedule: toRule(draft.recurrence),
    mode: draft.mode,
    start_date: toUtc(draft.start, zone) ?? '',
    access_group: draft.accessGroup,
    ...rules,
  } as UsgRequest;
}

/** What the form changes. */
export function usgPatch(draft: UsgProfileDraft): UsgPatch {
  return {
    title: draft.title,
    schedule: toRule(draft.recurrence),
    timezone: draft.timezone,
    all_computers: draft.allComputers,
    tags: tagList(draft.tags),
    restart_deliver_delay: Number(draft.restartDelay),
    restart_deliver_delay_window: Number(draft.restartWindow),
  };
}

/** What decides on the dates of a new profile; null while a field is empty. */
export function usgDatesRequest(draft: UsgProfileDraft): DatesRequest | null {
  const { schedule, timezone, start_date } = usgRequest(draft, null);
  return usgDatesPatch(draft) === null || start_date === '' ? null : { schedule, timezone, start_date };
}

/** What decides on the dates of a changed profile; null while a field is empty. */
export function usgDatesPatch(draft: UsgProfileDraft): DatesPatch | null {
  const { schedule, timezone } = usgPatch(draft);
  return isFilled(draft.recurrence) && timezone !== '' ? { schedule, timezone } : null;
}

/** Arguments of the command that creates the same; null where there is a file. */
export function usgCommand(draft: UsgProfileDraft): string[] | undefined {
  if (draft.benchmark === TAILORING) return undefined;
  const body = usgRequest(draft, null);
  return [
    ...['usg', 'create', '--title', draft.title, '--mode', draft.mode, '--benchmark', draft.benchmark],
    ...['--schedule', body.schedule, '--start', body.start_date, '--timezone', draft.timezone],
    ...(draft.allComputers ? ['--all'] : ['--tags', tagList(draft.tags).join(',')]),
    ...['--access-group', draft.accessGroup],
    ...(draft.mode === 'fix-restart-audit'
      ? ['--restart-delay', draft.restartDelay, '--restart-window', draft.restartWindow]
      : []),
  ];
}
