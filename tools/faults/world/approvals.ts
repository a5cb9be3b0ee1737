import type { TestStack } from '../../harness/stack.ts';

/**
 * Makes every action of a person wait for approval. The product has no such rule yet, so a trigger sets it in the
 * transaction that creates the rows.
 */
export async function requireApproval(stack: TestStack, personId: number): Promise<void> {
  await stack.rows(
    `create function test_require_approval() returns trigger language plpgsql as $$
       begin
         new.status = 'unapproved';
         new.approval_time = null;
         return new;
       end $$`,
  );
  await stack.rows(
    `create trigger test_require_approval before insert on activity for each row
       when (new.creator_id = ${Math.trunc(personId)}) execute function test_require_approval()`,
  );
}
