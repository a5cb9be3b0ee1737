import type { Router } from 'express';
import { toActivityResponse } from '../activities/activity-responses.ts';
import { createRouter, type Handler, type RouteDeps } from '../http/handler.ts';

export function recoveryKeysRoutes({ operation, services: { recoveryKeys } }: RouteDeps): Router {
  const getRecoveryKey: Handler<'getRecoveryKey'> = async ({ caller, params }) => {
    const { activity, key } = await recoveryKeys.read(caller, params.computer_id);
    return { activity: activity && toActivityResponse(activity), fde_recovery_key: key };
  };
  const generateRecoveryKey: Handler<'generateRecoveryKey'> = async ({ caller, params, query, body, traceparent }) => {
    const { force, after } = body ?? {};
    const activity = await recoveryKeys.generate(caller, {
      computerId: params.computer_id,
      force: force ?? query.force === true,
      after: after ?? null,
      traceparent,
    });
    return toActivityResponse(activity);
  };
  return createRouter()
    .get('/computers/:computer_id/recovery-key', operation('getRecoveryKey', getRecoveryKey))
    .post('/computers/:computer_id/recovery-key\\:generate', operation('generateRecoveryKey', generateRecoveryKey));
}
