import type { Router } from 'express';
import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handler, ServeOperation } from '../http/handler.ts';
import { createRouter } from '../http/router.ts';

export function recoveryKeysRoutes(deps: {
  operation: ServeOperation;
  services: Pick<Services, 'recoveryKeys'>;
}): Router {
  const { operation } = deps;
  const { recoveryKeys } = deps.services;
  const getRecoveryKey: Handler<'getRecoveryKey'> = async ({ caller, params }) => {
    const { activity, key } = await recoveryKeys.read(caller, params.computer_id);
    return { body: { activity: activity && toActivityResponse(activity), fde_recovery_key: key } };
  };
  const generateRecoveryKey: Handler<'generateRecoveryKey'> = async ({ caller, params, query, body, traceparent }) => {
    const { force, after } = body ?? {};
    const activity = await recoveryKeys.generate(caller, {
      computerId: params.computer_id,
      force: force ?? query.force === true,
      after: after ?? null,
      traceparent: traceparent,
    });
    return { body: toActivityResponse(activity) };
  };
  return createRouter()
    .get('/computers/:computer_id/recovery-key', operation('getRecoveryKey', getRecoveryKey))
    .post('/computers/:computer_id/recovery-key\\:generate', operation('generateRecoveryKey', generateRecoveryKey));
}
