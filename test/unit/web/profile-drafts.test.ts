import { describe, expect, it } from 'vitest';
import type { components } from '../../../packages/client/src/index.ts';
import { tagList } from '../../../web/src/pages/profiles/form/scope-draft.ts';
import {
  newScriptProfileDraft,
  scriptCommand,
  scriptDatesPatch,
  scriptDatesRequest,
  scriptProfileDraftOf,
  scriptPatch,
  scriptRequest,
} from '../../../web/src/pages/profiles/form/script-profile-draft.ts';
import {
  newUsgProfileDraft,
  usgCommand,
  usgDatesPatch,
  usgDatesRequest,
  usgProfileDraftOf,
  usgPatch,
  usgRequest,
} from '../../../web/src/pages/profiles/form/usg-profile-draft.ts';
import { draftOf, patchOf } from '../../../web/src/pages/scripts/script-draft.ts';

const NOW = Date.parse('2026-05-04T09:12:40Z');
const usg = {
  ...newUsgProfileDraft('UTC', NOW),
  title: 'Baseline',
  tags: 'web, db',
  timezone: 'Europe/Berlin',
  start: '2026-05-05T02:00',
};
const script = {
  ...newScriptProfileDraft('7', 'UTC', NOW),
  title: 'Nightly',
  timezone: 'Europe/Berlin',
  startAfter: '2026-05-05T00:00',
};

describe('the form of a USG profile', () => {
  it('becomes a request whose start is in UTC', () => {
    expect(usgRequest(usg, null)).toEqual({
      title: 'Baseline',
      mode: 'audit',
      benchmark: 'cis_level1_server',
      schedule: 'FREQ=WEEKLY;BYDAY=MO',
      timezone: 'Europe/Berlin',
      start_date: '2026-05-05T00:00:00Z',
      access_group: 'global',
      all_computers: false,
      tags: ['web', 'db'],
      restart_deliver_delay: 0,
      restart_deliver_delay_window: 0,
    });
  });

  it('has a tailoring file instead of a benchmark, and no command then', () => {
    const request = usgRequest({ ...usg, benchmark: 'custom' }, '<a/>');
    expect(request).toMatchObject({ tailoring_file: '<a/>' });
    expect(request).not.toHaveProperty('benchmark');
    expect(usgCommand({ ...usg, benchmark: 'custom' })).toBeUndefined();
    expect(usgCommand(usg)?.join(' ')).toContain('--tags web,db --access-group global');
  });

  it('has dates by its schedule when all fields of it are filled', () => {
    const dated = { schedule: 'FREQ=WEEKLY;BYDAY=MO', timezone: 'Europe/Berlin' };
    expect(usgDatesRequest(usg)).toEqual({ ...dated, start_date: '2026-05-05T00:00:00Z' });
    expect(usgDatesPatch({ ...usg, start: '' })).toEqual(dated);
    for (const changes of [{ start: '' }, { timezone: '' }, { recurrence: { ...usg.recurrence, interval: '' } }]) {
      expect(usgDatesRequest({ ...usg, ...changes })).toBeNull();
    }
  });

  it('leaves a profile as it is when nothing was changed', () => {
    const stored = {
      title: 'Baseline',
      schedule: 'FREQ=MONTHLY;BYMONTHDAY=1;BYHOUR=3',
      timezone: 'UTC',
      all_computers: false,
      tags: ['web'],
      restart_deliver_delay: 2,
      restart_deliver_delay_window: 30,
    };
    expect(usgPatch(usgProfileDraftOf(stored as components['schemas']['UsgProfile']))).toEqual(stored);
  });
});

describe('the form of a script profile', () => {
  const stored = {
    ...scriptRequest(script),
    trigger: {
      trigger_type: 'recurring',
      start_after: '2026-05-04T22:00:00Z',
      interval: '0 2 * * *',
      last_run: null,
      next_run: null,
    },
  } as unknown as components['schemas']['ScriptProfile'];

  it('becomes a request and a command', () => {
    expect(scriptRequest(script)).toMatchObject({
      script_id: 7,
      trigger: { trigger_type: 'recurring', start_after: '2026-05-04T22:00:00Z', interval: '0 2 * * *' },
    });
    const once = { ...script, trigger: 'one_time' as const, at: '2026-05-06T12:00', allComputers: true };
    expect(scriptRequest(once).trigger).toEqual({ trigger_type: 'one_time', timestamp: '2026-05-06T10:00:00Z' });
    expect(scriptCommand(once).join(' ')).toContain('--all --at 2026-05-06T10:00:00Z --timezone Europe/Berlin');
  });

  it('sends the trigger only when it has changed, because a past time would run again', () => {
    const draft = scriptProfileDraftOf(stored);
    expect(scriptPatch({ ...draft, title: 'Other' }, stored)).not.toHaveProperty('trigger');
    expect(scriptPatch({ ...draft, trigger: 'event' }, stored).trigger).toEqual({
      trigger_type: 'event',
      event_type: 'post_enrollment',
    });
  });
});

describe('the dates of a script profile', () => {
  const trigger = { trigger_type: 'recurring', start_after: '2026-05-04T22:00:00Z', interval: '0 2 * * *' };
  const stored = {
    ...scriptRequest(script),
    trigger: { ...trigger, last_run: null, next_run: null },
  } as unknown as components['schemas']['ScriptProfile'];

  it('are by what the form creates or changes', () => {
    expect(scriptDatesRequest(script)).toEqual({ timezone: 'Europe/Berlin', trigger });
    expect(scriptDatesPatch(scriptProfileDraftOf(stored), stored)).toEqual({
      timezone: 'Europe/Berlin',
      trigger: undefined,
    });
    const moved = { ...scriptProfileDraftOf(stored), startAfter: '2026-05-05T01:00' };
    expect(scriptDatesPatch(moved, stored)?.trigger).toEqual({ ...trigger, start_after: '2026-05-04T23:00:00Z' });
  });

  it.each([
    { trigger: 'event' },
    { timezone: '' },
    { startAfter: '' },
    { recurring: { ...script.recurring, time: '' } },
    { trigger: 'one_time', at: '' },
  ] as const)('are unknown with %j', (changes) => {
    expect(scriptDatesRequest({ ...script, ...changes })).toBeNull();
    expect(scriptDatesPatch({ ...script, ...changes }, stored)).toBeNull();
  });

  it('of a time need no fields of a recurrence', () => {
    const once = { ...script, trigger: 'one_time' as const, at: '2026-05-06T12:00', startAfter: '' };
    expect(scriptDatesRequest(once)?.trigger).toMatchObject({ timestamp: '2026-05-06T10:00:00Z' });
  });
});

describe('the form of a script', () => {
  const stored = {
    title: 'Tidy',
    interpreter: '/bin/sh',
    code: 'true\n',
    username: 'root',
    time_limit: 300,
    access_group: 'global',
    last_edited_at: '2026-05-04T09:12:40.000000',
    attachments: [{ id: 3, filename: 'a' }],
  } as components['schemas']['Script'];

  it('sends what has changed alone', () => {
    const draft = draftOf(stored);
    expect(patchOf(draft, [{ filename: 'a' }], stored)).toEqual({});
    expect(patchOf({ ...draft, code: '#!/bin/sh\nfalse\n' }, [], stored)).toEqual({
      code: '#!/bin/sh\nfalse\n',
      attachments: [],
    });
  });
});

it('tags of a field are separated by commas or spaces, and count once', () => {
  expect(tagList(' web,db  web, ')).toEqual(['web', 'db']);
  expect(tagList('')).toEqual([]);
});
