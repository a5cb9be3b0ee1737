import { chunksOf } from '../targets.ts';
import { deliveryOf } from './delivery.ts';
import { commandOf, idsOf, type Plan, type PlanInput, post, postEach } from './plan.ts';

/** Computers that one request may delete. */
const MAX_DELETED = 1000;

/** A request for each computer. */
export function planPower(change: 'restart' | 'shutdown', { targets, delivery, chosenBy }: PlanInput<object>): Plan {
  return {
    requests: postEach(
      targets,
      (id) => `/computers/${id}/${change}`,
      () => deliveryOf(delivery),
    ),
    command: commandOf({ name: `computers ${change}`, options: chosenBy, delivery }),
  };
}

export interface ProcessFields {
  pids: string;
}

/** A signal to processes of one computer. */
export function planSignal(
  signal: 'kill' | 'terminate',
  { fields, targets, delivery }: PlanInput<ProcessFields>,
): Plan {
  const pids = fields.pids.split(/[\s,]+/).filter((pid) => pid !== '');
  return {
    requests: targets.map(({ id }) =>
      post(`/processes/${signal}`, { computer_id: id, pids: pids.join(','), ...deliveryOf(delivery) }),
    ),
    command: commandOf({ name: `processes ${signal}`, args: [...idsOf(targets).map(String), ...pids], delivery }),
  };
}

export interface RecoveryKeyFields {
  force: boolean;
}

/** A new key of one computer. */
export function planRecoveryKey({ fields, targets, delivery }: PlanInput<RecoveryKeyFields>): Plan {
  return {
    requests: targets.map(({ id }) =>
      post(`/computers/${id}/recovery-key:generate`, { force: fields.force, ...deliveryOf(delivery) }),
    ),
    command: commandOf({
      name: 'recovery-key generate',
      args: idsOf(targets).map(String),
      options: [fields.force && '--force'],
      delivery,
    }),
  };
}

/** A request for each computer, with its title as the server requires it. */
export function planSanitize({ targets, delivery }: PlanInput<object>): Plan {
  return {
    requests: postEach(
      targets,
      (id) => `/computers/${id}/sanitize`,
      ({ title }) => ({ computer_title: title, ...deliveryOf(delivery) }),
    ),
  };
}

/** A request for each computer, with its title as the server requires it. */
export function planArchive({ targets, chosenBy }: PlanInput<object>): Plan {
  return {
    requests: postEach(
      targets,
      (id) => `/computers/${id}/archive`,
      ({ title }) => ({ computer_title: title }),
    ),
    command: commandOf({ name: 'computers archive', options: chosenBy }),
  };
}

/** A request for as many computers as one takes. */
export function planDelete({ targets }: PlanInput<object>): Plan {
  return {
    requests: chunksOf(idsOf(targets), MAX_DELETED).map((computer_ids) => post('/computers:delete', { computer_ids })),
  };
}
