import type { Request, Response } from 'express';
import type { ActivityWaits } from '../../../services/activities/activity-waits.ts';
import type { Caller } from '../../../services/common/ports.ts';
import type { Authenticator } from '../../../services/identity/login/authenticator.ts';
import type { Operation } from '../operations.ts';
import { readCurrent } from './authorize.ts';
import { untilDue } from './wait.ts';

interface PreferenceDeps {
  waits: ActivityWaits;
  authenticator: Authenticator;
  /** The response about an activity as it is now; null when the caller does not see it. */
  readActivity(caller: Caller, id: number): Promise<object | null>;
}

/** Replaces the body of a response before it is sent. */
export type ApplyPrefer = (operation: Operation, req: Request, res: Response, body: unknown) => Promise<unknown>;

/**
 * Implements `Prefer: wait=<seconds>` (RFC 7240) where the document has it: the activity that was created is returned when it
 * has ended or the time is up. Never rejects: whatever happens meanwhile, it has been created.
 */
export function preferWait({ waits, authenticator, readActivity }: PreferenceDeps): ApplyPrefer {
  return async (operation, req, res, body) => {
    const seconds = operation.takesPreference ? preferredWait(req.get('Prefer')) : null;
    if (seconds === null) return body;
    const created = body as { id: number };
    const request = { activityId: created.id, until: 'ended', known: null, seconds } as const;
    if ((await untilDue(waits, req, res, request)) === 'left') return body;
    try {
      await readCurrent(authenticator, operation, res.locals);
      const { address, requestId, principal } = res.locals;
      const current = await readActivity({ ...principal!, origin: { address, requestId } }, created.id);
      if (current === null) return body;
      res.set('Preference-Applied', `wait=${seconds}`);
      return { ...created, ...current };
    } catch {
      return body;
    }
  };
}

const MAX_SECONDS = 60;
const PREFERENCE = /(?:^|,)\s*wait\s*=\s*(?:"(\d+)"|(\d+))\s*(?=[,;]|$)/i;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/** Seconds of the first `wait` of the header, at most 60; null for none and for an invalid one. */
export function preferredWait(header: string | undefined): number | null {
  // Commas between quotes separate nothing.
  const plain = header?.replaceAll(QUOTED, (text) => (/^"\d+"$/.test(text) ? text : '""'));
  const found = plain?.match(PREFERENCE);
  const seconds = Number(found?.[1] ?? found?.[2] ?? 0);
  return seconds >= 1 ? Math.min(seconds, MAX_SECONDS) : null;
}
