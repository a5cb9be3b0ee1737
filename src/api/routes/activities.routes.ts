import type { Services } from '../../services/services.ts';
import type { Handlers, RequestContext } from '../handler.ts';
import { envelope, pageOf } from '../pagination.ts';
import { traceparentOf } from '../trace-context.ts';
import { wireDetailedActivity, wireParent } from '../wire/activities.wire.ts';

function queryOf({ query }: RequestContext): string {
  return (query['query'] as string | undefined) ?? '';
}

export function activitiesRoutes(deps: {
  services: Pick<Services, 'activities' | 'activityRepeats'>;
  publicUrl: string;
}): Handlers {
  const { activities, activityRepeats } = deps.services;
  return {
    async listActivities(context) {
      const { count, results } = await activities.list(context.caller, queryOf(context), pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(wireDetailedActivity) }) };
    },
    async listComputerActivities(context) {
      const computers = [...new Set(context.query['computer_ids'] as number[])];
      const { count, results } = await activities.listOfComputers(context.caller, computers, pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(wireDetailedActivity) }) };
    },
    async listParentActivities(context) {
      const { count, results } = await activities.listParents(context.caller, queryOf(context), pageOf(context));
      return { body: envelope(context, deps.publicUrl, { count, results: results.map(wireParent) }) };
    },
    async getActivity({ caller, params }) {
      return { body: wireDetailedActivity(await activities.read(caller, params['activity_id'] as number)) };
    },
    async cancelActivities({ caller, body }) {
      const { activity_ids } = body as { activity_ids: number[] };
      return { body: await activities.cancel(caller, activity_ids) };
    },
    async approveActivities({ caller, body }) {
      const { activity_ids } = body as { activity_ids: number[] };
      return { body: await activities.approve(caller, activity_ids) };
    },
    async reapplyActivities({ caller, body, request }) {
      const { activity_ids } = body as { activity_ids: number[] };
      return { body: await activityRepeats.reapply(caller, activity_ids, traceparentOf(request)) };
    },
    async revertActivities({ caller, body, request }) {
      const { activity_ids } = body as { activity_ids: number[] };
      return { body: await activityRepeats.revert(caller, activity_ids, traceparentOf(request)) };
    },
  };
}
