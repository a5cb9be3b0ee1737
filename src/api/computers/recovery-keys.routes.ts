import type { Services } from '../../services/setup/services.ts';
import { toActivityResponse } from '../activities/activity-responses.ts';
import type { Handlers } from '../http/handler.ts';
import { traceparentOf } from '../http/tracing.ts';
import type { components } from '../openapi/types.generated.ts';

export function recoveryKeysRoutes(deps: { services: Pick<Services, 'recoveryKeys'> }): Handlers {
  const { recoveryKeys } = deps.services;
  return {
    async getRecoveryKey({ caller, params }) {
      const { activity, key } = await recoveryKeys.read(caller, params['computer_id'] as number);
      return { body: { activity: activity && toActivityResponse(activity), fde_recovery_key: key } };
    },
    async generateRecoveryKey({ caller, params, query, body, request }) {
      const { force, after } = (body ?? {}) as components['schemas']['RecoveryKeyRequest'];
      const activity = await recoveryKeys.generate(caller, {
        computerId: params['computer_id'] as number,
        force: force ?? query['force'] === true,
        after: after ?? null,
        traceparent: traceparentOf(request),
      });
      return { body: toActivityResponse(activity) };
    },
  };
}
