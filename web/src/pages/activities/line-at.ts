import type { components } from '@flotilla/client';

type Schemas = components['schemas'];
export type Line = Schemas['ActivityComputer'];
type Status = Schemas['ActivityStatus'];

/** How far an activity had got on a computer. */
export interface LineState {
  status: Status;
  waitsFor: Line['waits_for'];
  due: string | null;
  delivered: string | null;
  ended: string | null;
}

/** Statuses of activities that have ended. */
export const ENDED: readonly (Status | null)[] = ['succeeded', 'failed', 'canceled'];

/** The state of a line at a moment in the past, from its times; null stands for now. */
export function lineAt(line: Line, moment: number | null): LineState {
  const by = (time: string | null) => (time !== null && (moment === null || Date.parse(time) <= moment) ? time : null);
  const due = moment === null && line.waits_for === 'time' ? null : by(line.due_time);
  const times = { due, delivered: by(line.delivery_time), ended: by(line.completion_time) };
  if (moment === null || times.ended !== null) return { ...present(line), ...times };
  if (times.delivered !== null) return { status: 'delivered', waitsFor: 'answer', ...times };
  return { ...beforeDelivery(line, times.due !== null, by(line.approval_time) !== null), ...times };
}

/** Nothing records when a computer's queue was full, so that an operation is taken for queued as soon as it was due. */
function beforeDelivery(line: Line, isDue: boolean, isApproved: boolean): Pick<LineState, 'status' | 'waitsFor'> {
  const hasMovedOn = ENDED.includes(line.activity_status) || line.activity_status === 'delivered';
  if (line.approval_time !== null && !isApproved) return { status: 'unapproved', waitsFor: 'approval' };
  if (isDue && hasMovedOn) return { status: 'undelivered', waitsFor: 'computer' };
  if (isDue) return present(line);
  if (line.step_after !== null) return { status: 'waiting', waitsFor: 'step' };
  if (line.after !== null) return { status: 'waiting', waitsFor: 'activity' };
  if (line.due_time !== null) return { status: 'scheduled', waitsFor: 'time' };
  // Canceled before it was approved.
  return hasMovedOn ? { status: 'unapproved', waitsFor: 'approval' } : present(line);
}

const present = (line: Line) => ({ status: line.activity_status, waitsFor: line.waits_for });
