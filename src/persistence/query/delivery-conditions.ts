/** Names of what conditions on delivery are about, as SQL. */
interface Delivery {
  /** Id of the computer. */
  computer: string;
  /** Id of its account. */
  account: string;
  /** The present moment. */
  now: string;
}

/**
 * * The least id that an operation in a lane without messages can have; null when every lane of the account has them.
 * @remarks An operation that may be delivered has a message as soon as its lane is opened. Lanes are opened within
 * moments, so this is nearly always null, and what compares with it reads nothing.
 */
const firstUnopened = (account: string) => `(
      select min(l.parent_id) from lane l where l.account_id = ${account} and l.opened_at is null)`;

/** Operations `o` of a computer that are due and have no message yet. */
const unqueued = ({ computer, account, now }: Delivery) => `activity o
    where o.computer_id = ${computer} and o.id > ${firstUnopened(account)} and o.status = 'undelivered'
      and (o.deliver_at <= ${now}) is not false and (o.deliver_before_time > ${now}) is not false
      and not exists (select from agent_message q where q.activity_id = o.id)`;

/**
 * * The first operation of a computer that is due and has no message yet, or null. Operations with a higher id wait for
 * it: a computer receives its operations in the order of their acceptance.
 */
export const firstUnqueued = (delivery: Delivery) => `(select min(o.id) from ${unqueued(delivery)})`;

/** A message `m` that may be delivered as far as its own times are concerned. */
export const isDue = (now: string) => `m.state in ('held', 'queued') and m.deliver_at <= ${now}
    and (m.deliver_before is null or m.deliver_before > ${now})`;

/**
 * * Over an alias of `activity`: the operation is due, not delivered, and beyond the bound on messages waiting for its
 * computer; true or false.
 * @param a - alias of the operation
 */
// Places are taken by what was handed over and not acknowledged, and by what is due and was accepted before.
export const beyondBound = (a: string, now: string) => {
  const delivery = { computer: `${a}.computer_id`, account: `${a}.account_id`, now };
  return `(select (
      select count(*) from agent_message m where m.computer_id = ${a}.computer_id and m.state in ('held', 'queued', 'sent')
        and (m.state = 'sent' or (${isDue(now)} and m.activity_id < ${a}.id))
    ) + (select count(*) from ${unqueued(delivery)} and o.id < ${a}.id) >= b.max_message_backlog
    from account b where b.id = ${a}.account_id) is true`;
};
