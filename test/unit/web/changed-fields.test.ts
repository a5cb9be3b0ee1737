import { expect, it } from 'vitest';
import { changedFields } from '../../../web/src/pages/settings/changed-fields.ts';

it('a form sends only what differs from what is saved', () => {
  const saved = { title: 'Fleet', days: -1, intervals: { ping: 30 }, account: null };
  expect(changedFields({ ...saved, intervals: { ping: 30 } }, saved)).toEqual({});
  expect(changedFields({ ...saved, days: 30, intervals: { ping: 60 } }, saved)).toEqual({
    days: 30,
    intervals: { ping: 60 },
  });
});
