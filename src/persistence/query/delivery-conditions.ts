interface Delivery {
  computer: string;
  account: string;
  now: string;
}

// The lowest possible id of an operation in a batch without messages: nearly always null, so that nothing is read.
const firstUnopened = (account: string) => `(
      select min(l.parent_id) from lane l where l.account_id = ${account} and l.opened_at is null)`;

const unqueued = ({ computer, account, now }: Delivery) => `activity o
    where o.computer_id = ${computer} and o.id > ${firstUnopened(account)} and o.status = 'undelivered'
      and (o.deliver_at <= ${now}) is not false and (o.deliver_before_time > ${now}) is not false
      and not exists (select from agent_message q where q.activity_id = o.id)`;

/** The first due operation of a computer without a message, or null: those with a higher id wait for it. */
export const firstUnqueued = (delivery: Delivery) => `(select min(o.id) from ${unqueued(delivery)})`;

/** A message `m` that may be sent according to its own times. */
export const isDue = (now: string) => `m.state in ('held', 'queued') and m.deliver_at <= ${now}
    and (m.deliver_before is null or m.deliver_before > ${now})`;

/** The operation is due, but unacknowledged messages and earlier due operations reach its computer's limit. */
export const beyondBound = (a: string, now: string) => {
  const delivery = { computer: `${a}.computer_id`, account: `${a}.account_id`, now };
  return `(select (
      select count(*) from agent_message m where m.computer_id = ${a}.computer_id and m.state in ('held', 'queued', 'sent')
        and (m.state = 'sent' or (${isDue(now)} and m.activity_id < ${a}.id))
    ) + (select count(*) from ${unqueued(delivery)} and o.id < ${a}.id) >= b.max_message_backlog
    from account b where b.id = ${a}.account_id) is true`;
};
