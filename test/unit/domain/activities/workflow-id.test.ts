import { expect, it } from 'vitest';
import {
  activityWorkflowId,
  parseActivityWorkflowId,
  parseWorkflowOwner,
} from '../../../../src/domain/activities/workflow-id.ts';
import { parseTriggerDate, triggerWorkflowId } from '../../../../workflows/contracts/profile-trigger.contract.ts';

it('reads the ids of activities and batches as they are made', () => {
  expect([activityWorkflowId(7), 'activity/7/lane/3'].map(parseActivityWorkflowId)).toEqual([7, null]);
  expect([activityWorkflowId(7), 'activity/7/lane/3'].map(parseWorkflowOwner)).toEqual([7, 7]);
});

it.each(['', 'activity/', 'activity/x', 'activity/7/lane/', 'activity/7/lane/3/4', 'xactivity/7', 'system-reconcile'])(
  'reads no activity in %j',
  (id) => {
    expect([parseActivityWorkflowId(id), parseWorkflowOwner(id)]).toEqual([null, null]);
  },
);

it('reads the date that a schedule appends, if it does', () => {
  const id = triggerWorkflowId('usg', 7);
  expect(parseTriggerDate(`${id}-2026-12-01T02:00:00Z`)).toEqual(new Date('2026-12-01T02:00:00Z'));
  expect(parseTriggerDate(id)).toBeNull();
});
