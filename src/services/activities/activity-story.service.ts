import { type Awaited, awaitedBy } from '../../domain/activities/waiting.ts';
import { readStatus } from '../../domain/activities/reading.ts';
import { shownResult } from '../../domain/scripts/result.ts';
import {
  findStory,
  type LineFilter,
  type LineRow,
  listFailures,
  listLines,
} from '../../persistence/activities/activity-computers.sql.ts';
import { readTimeline } from '../../persistence/activities/activity-timeline.sql.ts';
import type { Paged, PageRequest } from '../../persistence/database/page.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { scopeOf, unknownActivities } from './activity-rights.ts';

export type { LineFilter };

/** An operation on a computer, with how far it got and what it waits for. */
export type ActivityLine = Omit<LineRow, 'held'> & { waits_for: Awaited | null };

/** The progress and results of an activity on each of its computers. @see docs/api-conventions.md#the-computers-of-an-activity */
export function createActivityStoryService({ db, clock }: { db: Database; clock: Clock }) {
  const requireStory = async (caller: Caller, id: number) => {
    const scope = scopeOf(caller);
    const story = await findStory(db, scope, id);
    if (!story) throw unknownActivities([id]);
    return { scope, story };
  };
  return {
    /** In the order of the operations' ids. @throws {DomainError} UnknownActivity */
    async listComputers(
      caller: Caller,
      id: number,
      filter: LineFilter,
      page: PageRequest,
    ): Promise<Paged<ActivityLine>> {
      const { scope, story } = await requireStory(caller, id);
      const now = clock.now();
      const { count, results } = await listLines(db, scope, story, { filter, page, now });
      return { count, results: results.map((row) => toLine(row, now)) };
    },
    /** The texts of failures, the most frequent first. @throws {DomainError} UnknownActivity */
    async listFailures(caller: Caller, id: number, page: PageRequest) {
      const { scope, story } = await requireStory(caller, id);
      return listFailures(db, scope, story, page);
    },
    /** How many computers had got how far, from the creation on. @throws {DomainError} UnknownActivity */
    async readTimeline(caller: Caller, id: number, points: number) {
      const { scope, story } = await requireStory(caller, id);
      return readTimeline(db, scope, story, { points, now: clock.now() });
    },
  };
}

function toLine({ held, ...row }: LineRow, now: Date): ActivityLine {
  const status = readStatus({ status: row.status, deliverAt: row.deliver_at, held, onlyLater: false }, now);
  const waits_for = awaitedBy(status, row.blocked_by, row.after_activity_id);
  return { ...row, status, waits_for, result_text: shownResult(row) };
}
