import { describe, expect, it } from 'vitest';
import { type Line, lineAt } from '../../../web/src/pages/activities/line-at.ts';

const at = (minute: number) => `2026-05-04T09:${String(minute).padStart(2, '0')}:00Z`;
const moment = (minute: number) => Date.parse(at(minute));

const ENDED: Line = {
  id: 7,
  type: 'InstallSnaps',
  summary: 'Install snap hello',
  computer_id: 3,
  computer_title: 'web-3',
  activity_status: 'failed',
  waits_for: null,
  offline_since: null,
  creation_time: at(0),
  approval_time: null,
  due_time: at(10),
  delivery_time: at(20),
  completion_time: at(30),
  result_code: null,
  result_text: 'no space',
  cancel_requested: false,
  after: null,
  step_after: null,
};

const statesOf = (line: Line, ...minutes: number[]) =>
  minutes.map((minute) => {
    const { status, waitsFor } = lineAt(line, moment(minute));
    return [status, waitsFor];
  });

describe('lineAt', () => {
  it('follows the times of an operation', () => {
    expect(statesOf(ENDED, 0, 9, 10, 19, 20, 29, 30)).toEqual([
      ['scheduled', 'time'],
      ['scheduled', 'time'],
      ['undelivered', 'computer'],
      ['undelivered', 'computer'],
      ['delivered', 'answer'],
      ['delivered', 'answer'],
      ['failed', null],
    ]);
  });

  it('hides times that had not come', () => {
    expect(lineAt(ENDED, moment(25))).toMatchObject({ due: at(10), delivered: at(20), ended: null });
    expect(lineAt(ENDED, moment(5))).toMatchObject({ due: null, delivered: null, ended: null });
    expect(lineAt(ENDED, null)).toMatchObject({ status: 'failed', ended: at(30) });
  });

  it('knows what an operation had to wait for before it was due', () => {
    expect(statesOf({ ...ENDED, after: 4 }, 5)).toEqual([['waiting', 'activity']]);
    expect(statesOf({ ...ENDED, after: 4, step_after: 6 }, 5)).toEqual([['waiting', 'step']]);
    expect(statesOf({ ...ENDED, approval_time: at(12) }, 11, 12)).toEqual([
      ['unapproved', 'approval'],
      ['undelivered', 'computer'],
    ]);
  });

  it('shows an open operation as it is, once it is due', () => {
    const open: Line = {
      ...ENDED,
      activity_status: 'waiting',
      waits_for: 'backlog',
      delivery_time: null,
      completion_time: null,
    };
    expect(statesOf(open, 5, 10, 40)).toEqual([
      ['scheduled', 'time'],
      ['waiting', 'backlog'],
      ['waiting', 'backlog'],
    ]);
  });

  it('takes what was canceled without ever being due for not approved', () => {
    const canceled: Line = { ...ENDED, activity_status: 'canceled', due_time: null, delivery_time: null };
    expect(statesOf(canceled, 5, 30)).toEqual([
      ['unapproved', 'approval'],
      ['canceled', null],
    ]);
    expect(statesOf({ ...canceled, after: 4 }, 5)).toEqual([['waiting', 'activity']]);
  });

  it('shows no time in the future as the time of queuing', () => {
    const scheduled: Line = {
      ...ENDED,
      activity_status: 'scheduled',
      waits_for: 'time',
      delivery_time: null,
      completion_time: null,
    };
    expect(lineAt(scheduled, null)).toMatchObject({ status: 'scheduled', waitsFor: 'time', due: null });
  });
});
