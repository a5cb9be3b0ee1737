import type { components } from '@flotilla/client';
import { fromCron, isFilled, NIGHTLY, type Recurring, toCron } from '../cron.ts';
import type { ScriptProfile } from '../profile-types.ts';
import { BROWSER_ZONE, isZone, toLocal, toUtc } from '../../../ui/times/zone.ts';
import { type ScopeDraft, tagList } from './scope-draft.ts';

type ScriptRequest = components['schemas']['ScriptProfileRequest'];
type ScriptPatch = components['schemas']['ScriptProfilePatch'];
type DatesRequest = components['schemas']['ScriptProfileDatesRequest'];
type DatesPatch = components['schemas']['ScriptProfileDatesPatch'];
type Trigger = ScriptRequest['trigger'];

/** The form of a script profile. Numbers are texts, as fields have them. */
export interface ScriptProfileDraft extends ScopeDraft {
  title: string;
  script: string;
  trigger: 'recurring' | 'one_time' | 'event';
  recurring: Recurring;
  timezone: string;
  /** Local times of the time zone. */
  at: string;
  startAfter: string;
  username: string;
  timeLimit: string;
}

/** An empty form, of a script if one is chosen already. */
export function newScriptProfileDraft(script = '', zone = BROWSER_ZONE, now = Date.now()): ScriptProfileDraft {
  const today = toLocal(new Date(now), zone);
  return {
    title: '',
    script,
    trigger: 'recurring',
    recurring: NIGHTLY,
    timezone: zone,
    at: `${toLocal(new Date(now + 86_400_000), zone).slice(0, 10)}T02:00`,
    startAfter: today,
    allComputers: false,
    tags: '',
    username: 'root',
    timeLimit: '300',
  };
}

/** The form of a profile that exists. */
export function scriptProfileDraftOf(profile: ScriptProfile): ScriptProfileDraft {
  const { trigger, timezone } = profile;
  const draft: ScriptProfileDraft = {
    ...newScriptProfileDraft(String(profile.script_id), timezone),
    title: profile.title,
    trigger: trigger.trigger_type,
    timezone,
    allComputers: profile.all_computers,
    tags: profile.tags.join(', '),
    username: profile.username,
    timeLimit: String(profile.time_limit),
  };
  if (trigger.trigger_type === 'one_time') draft.at = toLocal(trigger.timestamp, timezone);
  if (trigger.trigger_type === 'recurring') {
    draft.recurring = fromCron(trigger.interval);
    draft.startAfter = toLocal(trigger.start_after, timezone);
  }
  return draft;
}

/** What the form creates. */
export function scriptRequest(draft: ScriptProfileDraft): ScriptRequest {
  return {
    title: draft.title,
    script_id: Number(draft.script),
    all_computers: draft.allComputers,
    tags: tagList(draft.tags),
    time_limit: Number(draft.timeLimit),
    username: draft.username,
    timezone: draft.timezone,
    trigger: triggerOf(draft),
  };
}

/** What the form changes. A trigger that stays the same is left out: given again, a time in the past would run once more. */
export function scriptPatch(draft: ScriptProfileDraft, profile: ScriptProfile): ScriptPatch {
  const { script_id, trigger, ...fields } = scriptRequest(draft);
  const before = triggerOf(scriptProfileDraftOf(profile));
  return JSON.stringify(trigger) === JSON.stringify(before) ? fields : { ...fields, trigger };
}

/** What decides on the dates of a new profile; null while a field is empty, and without dates. */
export function scriptDatesRequest(draft: ScriptProfileDraft): DatesRequest | null {
  const { timezone, trigger } = scriptRequest(draft);
  return hasDates(draft) ? { timezone, trigger } : null;
}

/** What decides on the dates of a changed profile; null while a field is empty, and without dates. */
export function scriptDatesPatch(draft: ScriptProfileDraft, profile: ScriptProfile): DatesPatch | null {
  const { timezone, trigger } = scriptPatch(draft, profile);
  return hasDates(draft) ? { timezone, trigger } : null;
}

function hasDates({ trigger, timezone, at, startAfter, recurring }: ScriptProfileDraft): boolean {
  if (trigger === 'event' || timezone === '') return false;
  return trigger === 'one_time' ? at !== '' : startAfter !== '' && isFilled(recurring);
}

/** Arguments of the command that creates the same. */
export function scriptCommand(draft: ScriptProfileDraft): string[] {
  const { trigger } = draft;
  const when = {
    event: ['--on-enrollment'],
    one_time: ['--at', utcOf(draft.at, draft)],
    recurring: ['--cron', toCron(draft.recurring), '--start-after', utcOf(draft.startAfter, draft)],
  }[trigger];
  return [
    ...['script-profiles', 'create', draft.script, '--title', draft.title],
    ...(draft.allComputers ? ['--all'] : ['--tags', tagList(draft.tags).join(',')]),
    ...when,
    ...['--timezone', draft.timezone, '--username', draft.username, '--time-limit', `${draft.timeLimit}s`],
  ];
}

function triggerOf(draft: ScriptProfileDraft): Trigger {
  switch (draft.trigger) {
    case 'event':
      return { trigger_type: 'event', event_type: 'post_enrollment' };
    case 'one_time':
      return { trigger_type: 'one_time', timestamp: utcOf(draft.at, draft) };
    case 'recurring':
      return {
        trigger_type: 'recurring',
        start_after: utcOf(draft.startAfter, draft),
        interval: toCron(draft.recurring),
      };
  }
}

/** The server names the field of a wrong time zone; until then times are read as UTC. */
function utcOf(local: string, { timezone }: ScriptProfileDraft): string {
  return toUtc(local, isZone(timezone) ? timezone : 'UTC') ?? '';
}
