/**
 * Over the alias `a` of `activity`: a child of it, as `k` with its message `m`, fulfils the condition; true or false.
 */
// Children are asked in index order with a limit: PostgreSQL takes them for spread over the table and would read it all.
export const anyChild = (condition: string) => `(
      select true from activity k left join agent_message m on m.activity_id = k.id
      where k.parent_id = a.id and ${condition} order by k.id limit 1) is true`;

/**
 * Over the alias `a` of `activity`: what is not delivered waits for room in a queue; of a group, all of it does. True or
 * false.
 */
// A group is asked only while it is fresh; the first child with a message that is not held answers.
export const HELD = `case when a.status <> 'undelivered' then false
    when a.computer_id is not null then
      exists (select from agent_message m where m.activity_id = a.id and m.state = 'held')
    else a.children_count > 0 and not ${anyChild(`k.status = 'undelivered' and m.state is distinct from 'held'`)} end`;
