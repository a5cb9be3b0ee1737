import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handlers, Services } from '../http/handler.ts';

export function recoveryKeysHandlers({ recoveryKeys }: Services) {
  return {
    getRecoveryKey: async ({ caller, params, query }) => {
      const { activity, key } = await recoveryKeys.read(caller, params.computer_id, query.reason);
      return { activity: activity && toActivityResponse(activity), fde_recovery_key: key };
    },
    generateRecoveryKey: async ({ caller, params, query, body, traceparent }) => {
      const { force, after } = body ?? {};
      const activity = await recoveryKeys.generate(caller, {
        computerId: params.computer_id,
        force: force ?? query.force === true,
        after: after ?? null,
        traceparent,
      });
      return toActivityResponse(activity);
    },
  } satisfies Handlers;
}
