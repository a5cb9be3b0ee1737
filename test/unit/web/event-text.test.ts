import type { CloudEvent } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { EVENT_LABELS, EVENT_TYPES, eventText, wordsOf } from '../../../web/src/pages/events/event-text.ts';

const event = (type: string, data: object) => ({ id: '1-1', type, data }) as unknown as CloudEvent;
const ENDED = { summary: 'Install snaps on computer', succeeded: 0, failed: 0, canceled: 0 };

describe('eventText', () => {
  it.each([
    ['activity.created', { summary: 'Restart computer' }, 'Restart computer'],
    [
      'activity.ended',
      { ...ENDED, succeeded: 1200, failed: 3 },
      'Install snaps on computer: 1,200 succeeded, 3 failed',
    ],
    ['activity.ended', ENDED, 'Install snaps on computer: nothing to do'],
    ['operation.ended', { activity_type: 'RestartRequest', activity_status: 'failed' }, 'Restart: failed'],
    ['computer.changed', { title: 'web-1', changed: ['tags', 'access_group'] }, 'web-1: tags, access group'],
    ['computer.removed', { title: 'web-1' }, 'web-1'],
    ['alert.raised', { alert_type: 'ComputerOfflineAlert' }, 'Computer offline'],
    ['profile.run', { profile_type: 'usg', computers: 1 }, 'USG profile on 1 computer'],
    ['log.recorded', { person_name: 'Ann', message: 'Changed a role' }, 'Ann: Changed a role'],
    ['of.tomorrow', {}, 'of.tomorrow'],
  ])('of %s', (type, data, text) => expect(eventText(event(type, data))).toBe(text));
});

it('every type has a name of its own', () => {
  expect(new Set(Object.values(EVENT_LABELS)).size).toBe(EVENT_TYPES.length);
});

it.each([
  ['InstallSnaps', 'Install snaps'],
  ['ChangePackagesRequest', 'Change packages'],
  ['GenerateFDERecoveryKeyRequest', 'Generate FDE recovery key'],
  ['UsgActivity', 'USG'],
  ['EsmDisabledAlert', 'Esm disabled'],
])('the words of %s', (name, words) => expect(wordsOf(name)).toBe(words));
