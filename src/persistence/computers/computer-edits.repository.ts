import type { Sql } from '../database/sql.ts';
import { Computer } from './computer.entity.ts';

type EditableComputer = Awaited<ReturnType<typeof findEditableComputer>>;

/** The fields of an accepted computer that people edit. */
export function findEditableComputer({ em }: Sql, account: number, id: number) {
  const fields = ['title', 'comment', 'tags', 'accessGroup'] as const;
  return em.findOneOrFail(Computer, { id, account, state: 'approved' }, { fields });
}

/** Absent fields are unchanged. */
export function editComputer(
  { em }: Sql,
  computer: EditableComputer,
  edit: {
    title: string | undefined;
    comment: string | undefined;
    tags: string[] | undefined;
    accessGroup: number | undefined;
  },
): void {
  em.assign(computer, edit, { ignoreUndefined: true });
}
